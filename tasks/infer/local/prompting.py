"""Convert prompts, labels and texts to token ids."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.core.chats import refuse_tools
from contrapose.tasks.infer.local.chat_template import ChatTemplate
from contrapose.tasks.tables.columnar import split_batches

TOGETHER = 1_000
"""Prompts that are tokenised together: alone they take a quarter longer."""
SPACED = ("", "▁", "Ġ")
"""Marks of tokenizers before a token that begins a word: nothing, or a mark of a space."""


class Encoder:
    """Converts prompts, labels and texts to tokens; it puts prompts into the chat template first.

    Args:
        tokenizer: the model's own.
        spec: of the text before every prompt, as messages of the chat template, or without one as paragraphs; and
            whether the template is used (True), never (False), or when the model has one (None).
    """

    def __init__(self, tokenizer: Any, spec: ModelSpec) -> None:
        self.tokenizer, self.spec = tokenizer, spec
        self.template = ChatTemplate(tokenizer, spec)
        self.chat = self.template.used
        pad = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else tokenizer.eos_token_id
        self.pad_id = int(pad if pad is not None else 0)
        self._labels: dict[str, list[int]] = {}
        self._spellings: dict[str, frozenset[int]] = {}

    def encode_prompts(self, prompts: Sequence[str], *, closed: bool = False) -> list[list[int]]:
        """Return the tokens of each prompt; `closed`: with the thought closed, if the template opens one."""
        wrap = self.template.format_closed_prompt if closed else self.template.format_prompt
        if not self.chat:
            wrap = self.spec.in_one_text
            for prompt in prompts:
                refuse_tools(prompt, where=self.spec.id, why="the model has no chat template")
        parts = split_batches(map(wrap, prompts), TOGETHER)
        return [ids for part in parts for ids in self.tokenizer(part, add_special_tokens=not self.chat)["input_ids"]]

    def encode_label(self, label: str) -> list[int]:
        """Return the tokens of a label after a prompt, without the mark that some tokenizers put before a text."""
        if label not in self._labels:
            # After "Answer:" a label follows a space; at the start of a chat turn it does not.
            before, text = (self._before_turn, label) if self.chat else ("Answer:", f" {label}")
            start, both = self._bare_ids(before) if before else [], self._bare_ids(before + text)
            follows = both[: len(start)] == start
            self._labels[label] = both[len(start) :] if follows else self._bare_ids(text)
        return self._labels[label]

    def encode_spellings(self, label: str) -> frozenset[int]:
        """Return the single tokens that spell a label, with or without a space before it."""
        if label not in self._spellings:
            ids = {self.tokenizer.convert_tokens_to_ids(mark + label) for mark in SPACED}
            own = self.encode_label(label)
            known = ids - {None, self.tokenizer.unk_token_id}
            self._spellings[label] = frozenset(known.union(own if len(own) == 1 else ()))
        return self._spellings[label]

    @property
    def has_open_thought(self) -> bool:
        """Return whether labels would be inside a thought, because the template opens one that cannot be closed."""
        return bool(self.template.thought) and self.template.closing is None

    @cached_property
    def _before_turn(self) -> str:
        """Text that a template writes before a turn: a line break in most templates, nothing in some."""
        turn = self.template.format_closed_prompt("")
        return turn[len(turn.rstrip()) :]

    def encode_text(self, context: list[int], text: str) -> tuple[list[int], list[int]]:
        """Return the tokens before a text that is scored, and the tokens of the text.

        The text is tokenised by itself, so that it has the same tokens after either prompt of a case.
        """
        ids = self._bare_ids(text)
        if context:
            return context, ids
        start = self.tokenizer.bos_token_id
        return ([start], ids) if start is not None else (ids[:1], ids[1:])

    def _bare_ids(self, text: str) -> list[int]:
        return list(self.tokenizer(text, add_special_tokens=False)["input_ids"])
