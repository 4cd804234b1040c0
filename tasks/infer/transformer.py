"""Batched inference with a causal language model: replies, label log-likelihoods, losses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from contrapose.tasks.config import Generation
from contrapose.tasks.errors import ModelError
from contrapose.tasks.records import Completion, Usage

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompting:
    """How a prompt is wrapped before it is tokenised."""

    system: str | None
    """System instruction; without a chat template it precedes the prompt as a paragraph."""
    chat: bool | None
    """True: use the chat template; False: never; None: when the model has one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """A text to be scored after its context, as token ids."""

    context: list[int]
    text: list[int]


class TransformerModel:
    """A transformers model behind the `Model` protocol.

    Args:
        model: a causal language model, in eval mode, on its device.
        tokenizer: its tokenizer.
        prompting: system instruction and chat template.
        generation: reply length and stops; decoding is greedy.
        batch_size: prompts a forward pass.
    """

    def __init__(
        self, *, model: Any, tokenizer: Any, prompting: Prompting, generation: Generation, batch_size: int
    ) -> None:
        self.model, self.tokenizer = model, tokenizer
        self.prompting, self.generation, self.batch_size = prompting, generation, batch_size
        self.chat = bool(tokenizer.chat_template) if prompting.chat is None else prompting.chat
        if self.chat and not tokenizer.chat_template:
            raise ModelError(
                "apply_chat_template is on, and the model has no chat template",
                expected="a model with a chat template",
                remedy="Set apply_chat_template to false.",
                where="apply_chat_template",
            )
        config = model.config.get_text_config()
        self.context_length = int(getattr(config, "max_position_embeddings", 1 << 20))
        pad = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else tokenizer.eos_token_id
        self.pad_id = int(pad if pad is not None else 0)

    def generate(self, prompts: Sequence[str]) -> list[Completion]:
        """Greedy replies, batched by length."""
        encoded = [self._prompt_ids(prompt) for prompt in prompts]
        results: list[Completion] = [Completion()] * len(prompts)
        for batch in self._batches(encoded, room=self.generation.max_new_tokens, results=results):
            for index, completion in zip(batch, self._reply([encoded[i] for i in batch]), strict=True):
                results[index] = completion
        return results

    def choose(self, questions: Sequence[tuple[str, tuple[str, ...]]]) -> list[Completion]:
        """Log-likelihood of every label right after the prompt, in nats."""
        encoded = [self._prompt_ids(prompt) for prompt, _ in questions]
        labels = [[self._label_ids(label) for label in names] for _, names in questions]
        results: list[Completion] = [Completion()] * len(questions)
        # One pass per prompt answers for labels of a single token; longer labels are scored as texts.
        single = [all(len(ids) == 1 for ids in row) for row in labels]
        for batch in self._batches(
            encoded, room=max((len(i) for row in labels for i in row), default=1), results=results
        ):
            easy = [index for index in batch if single[index]]
            rows = self._next_token([encoded[i] for i in easy], [[ids[0] for ids in labels[i]] for i in easy])
            for index, row in zip(easy, rows, strict=True):
                results[index] = self._chosen(questions[index][1], row, len(encoded[index]))
            for index in (index for index in batch if not single[index]):
                pairs = [Scored(context=encoded[index], text=ids) for ids in labels[index]]
                row = [sum(values) for values in self._token_loglikelihoods(pairs)]
                results[index] = self._chosen(questions[index][1], row, len(encoded[index]))
        return results

    def losses(self, pairs: Sequence[tuple[str, str]]) -> list[float | None]:
        """Mean loss of each text's tokens after its prompt, in nats.

        The text is tokenised by itself, so that it has the same tokens after either prompt of a case.
        An empty prompt stands for the beginning of the text, marked as the tokenizer marks it.
        """
        scored = [self._scored(prompt, text) for prompt, text in pairs]
        results: list[float | None] = [None] * len(pairs)
        usable = [index for index, each in enumerate(scored) if each.text and each.context]
        usable.sort(key=lambda index: len(scored[index].context) + len(scored[index].text))
        for batch in _chunks(usable, self.batch_size):
            rows = self._token_loglikelihoods([scored[index] for index in batch])
            for index, values in zip(batch, rows, strict=True):
                results[index] = -sum(values) / len(values)
        return results

    def _scored(self, prompt: str, text: str) -> Scored:
        ids = list(self.tokenizer(text, add_special_tokens=False)["input_ids"])
        if prompt:
            return Scored(context=self._prompt_ids(prompt), text=ids)
        start = self.tokenizer.bos_token_id
        return Scored(context=[start], text=ids) if start is not None else Scored(context=ids[:1], text=ids[1:])

    def _prompt_ids(self, prompt: str) -> list[int]:
        if not self.chat:
            text = f"{self.prompting.system}\n\n{prompt}" if self.prompting.system else prompt
            return list(self.tokenizer(text)["input_ids"])
        messages = [{"role": "user", "content": prompt}]
        if self.prompting.system:
            messages.insert(0, {"role": "system", "content": self.prompting.system})
        text = self.tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)
        return list(self.tokenizer(text, add_special_tokens=False)["input_ids"])

    def _label_ids(self, label: str) -> list[int]:
        # After "Answer:" a label follows a space; at the start of a chat turn it does not.
        return list(self.tokenizer(label if self.chat else f" {label}", add_special_tokens=False)["input_ids"])

    def _batches(self, encoded: list[list[int]], *, room: int, results: list[Completion]) -> Iterator[list[int]]:
        """Indices in batches of similar length; prompts that do not fit become errors in `results`."""
        fitting = []
        for index, ids in enumerate(encoded):
            if len(ids) + room <= self.context_length:
                fitting.append(index)
            else:
                results[index] = Completion(
                    error=f"the prompt has {len(ids)} tokens; with {room} to write it must fit {self.context_length}"
                )
        yield from _chunks(sorted(fitting, key=lambda index: len(encoded[index])), self.batch_size)

    def _padded(self, rows: list[list[int]], *, left: bool) -> tuple[Any, Any]:
        """Token ids and attention mask, both of shape (rows, longest row)."""
        import torch

        width = max(len(row) for row in rows)
        gaps = [[self.pad_id] * (width - len(row)) for row in rows]
        marks = [[1] * len(row) for row in rows]
        zeros = [[0] * len(gap) for gap in gaps]
        ids = [gap + row if left else row + gap for gap, row in zip(gaps, rows, strict=True)]
        mask = [zero + mark if left else mark + zero for zero, mark in zip(zeros, marks, strict=True)]
        device = self.model.device
        return torch.tensor(ids, device=device), torch.tensor(mask, device=device)

    def _reply(self, rows: list[list[int]]) -> list[Completion]:
        import torch

        ids, mask = self._padded(rows, left=True)
        with torch.inference_mode():
            output = self.model.generate(
                input_ids=ids,
                attention_mask=mask,
                max_new_tokens=self.generation.max_new_tokens,
                do_sample=False,
                temperature=None,
                top_p=None,
                top_k=None,
                pad_token_id=self.pad_id,
                stopping_criteria=self._stopping(ids.shape[1]),
            )
        return [
            self._decoded(row, written) for row, written in zip(rows, output[:, ids.shape[1] :].tolist(), strict=True)
        ]

    def _stopping(self, width: int) -> Any:
        """Ends each row whose reply holds a stop. Replies start after `width` tokens."""
        import torch
        from transformers import StoppingCriteriaList

        def stopped(ids: Any, _: Any) -> Any:
            texts = self.tokenizer.batch_decode(ids[:, width:], skip_special_tokens=True)
            found = [any(stop in text for stop in self.generation.stop) for text in texts]
            return torch.tensor(found, device=ids.device)

        return StoppingCriteriaList([stopped] if self.generation.stop else [])

    def _decoded(self, row: list[int], written: list[int]) -> Completion:
        text = self.tokenizer.decode(written, skip_special_tokens=True)
        for stop in self.generation.stop:
            text = text.partition(stop)[0]
        ends = self._end_ids()
        count = next((place for place, token in enumerate(written) if token in ends), len(written))
        return Completion(text=text, usage=Usage(calls=1, prompt_tokens=len(row), completion_tokens=count))

    def _end_ids(self) -> tuple[int, ...]:
        ends = self.model.generation_config.eos_token_id
        return (*(ends if isinstance(ends, list) else [ends]), self.pad_id)

    def _next_token(self, rows: list[list[int]], wanted: list[list[int]]) -> list[list[float]]:
        """Log-probabilities of the wanted tokens as the next token of each row."""
        import torch

        if not rows:
            return []
        ids, mask = self._padded(rows, left=True)
        with torch.inference_mode():
            logits = self.model(
                input_ids=ids,
                attention_mask=mask,
                position_ids=_positions(mask),
                logits_to_keep=1,
                use_cache=False,
            ).logits
            logs = logits[:, -1].float().log_softmax(-1)
        return [[float(logs[place, token]) for token in tokens] for place, tokens in enumerate(wanted)]

    def _token_loglikelihoods(self, pairs: Sequence[Scored]) -> list[list[float]]:
        """Log-probability of every token of each text, given its context and the tokens before it."""
        import torch

        longest = max(len(pair.text) for pair in pairs)
        ids, mask = self._padded([pair.context + pair.text for pair in pairs], left=True)
        with torch.inference_mode():
            logits = self.model(
                input_ids=ids,
                attention_mask=mask,
                position_ids=_positions(mask),
                logits_to_keep=longest + 1,
                use_cache=False,
            ).logits
        # Left padding puts every text at the end, so its tokens are predicted by the rows just before them.
        rows = []
        for place, pair in enumerate(pairs):
            size = len(pair.text)
            logs = logits[place, -size - 1 : -1].float().log_softmax(-1)
            target = ids[place, -size:].unsqueeze(-1)
            rows.append([float(value) for value in logs.gather(-1, target).squeeze(-1)])
        return rows

    def _chosen(self, labels: tuple[str, ...], row: list[float], prompt_tokens: int) -> Completion:
        best = max(range(len(row)), key=row.__getitem__)
        usage = Usage(calls=1, prompt_tokens=prompt_tokens)
        return Completion(text=labels[best], option_loglikelihoods=tuple(row), usage=usage)


def _positions(mask: Any) -> Any:
    """Positions that count real tokens only, so that left padding changes nothing."""
    return (mask.cumsum(-1) - 1).clamp(min=0)


def _chunks(items: Sequence[Item], size: int) -> Iterator[list[Item]]:
    for start in range(0, len(items), size):
        yield list(items[start : start + size])
