"""Build samples from the values of rows."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

from contrapose.tasks.config.data_settings import TurnChoice
from contrapose.tasks.core.records import AnswerPair, ItemSample, RelatedTexts, Sample, SummaryPair, TextSample, Verdict
from contrapose.tasks.core.tool_calls import calls_to_json, read_calls
from contrapose.tasks.load.answers import find_chosen_options, read_open_answers, read_preference
from contrapose.tasks.load.conversations import (
    AskedChat,
    LastQuestion,
    Turn,
    find_last_question,
    find_last_turn,
    format_turns,
    is_conversation,
    is_message_list,
    parse_turns,
    read_chat,
    read_tools,
    take_first_turn,
)
from contrapose.tasks.load.description import TableDescription, list_required_fields
from contrapose.tasks.load.options import read_items, read_options, read_place, split_off_options
from contrapose.tasks.load.rows import (
    CellError,
    Omission,
    Problem,
    Row,
    find_value,
    is_missing,
    parse_literal,
    quote,
    quote_all,
    read_optional_label,
    require_label,
    require_text,
)

Value = TypeVar("Value")
Values = Mapping[str, Any]
PASSAGES = ("contexts", "text", "passages", "paragraphs", "content")
"""Keys of an object that hold a passage."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleBuilder:
    """Builder of the samples of one source."""

    description: TableDescription
    stem: str
    """Begins the ids of rows that have none: `<stem>-0001` for row 1."""
    uses_answers: bool = True
    """Whether the test uses right answers; if not, a problem with them refuses no row."""
    slice_by: str | None = None
    """Column whose values split the results."""
    turn: TurnChoice = "last"
    """Which message of a conversation is the text."""
    problems: list[Problem] = field(default_factory=list)
    """What is wrong with the cells of the row that is being read."""

    def build(self, row: Row) -> Iterator[Sample | Problem | Omission]:
        """Yield the samples of a row, its problems, or the reason why it gives none."""
        if row.problem is not None:
            yield row.problem
            return
        parts = list(self.description.parts(row))
        for number, part in enumerate(parts, start=1):
            if isinstance(part, Problem):
                yield part
                continue
            self.problems.clear()
            sample = self._build_sample(row, part, number if len(parts) > 1 else 0)
            yield replace(self.problems[0], also=tuple(self.problems[1:])) if self.problems else sample

    def _build_sample(self, row: Row, values: Values, part: int) -> Sample | Omission:
        """Make a sample from the fields of a row; it can be used if `problems` stays empty."""
        kind = self.description.sample_type
        if kind is SummaryPair and str(values.get("winner")) == "tie":
            return Omission("a tie: neither is better")
        own = self._read_filled(values, "id", require_label)
        # A sample that is taken out of a row may have an id of its own.
        has_own = own is not None and self.description.reshapes and "id" not in self.description.fields
        several = f".{part}" if part and not has_own else ""
        # Rows with one context belong together where no column says which do.
        slice_of = self._read_cell(
            "slice", self.slice_by, find_value(row.values, self.slice_by or ""), read_optional_label
        )
        cluster = self._read_optional(values, "cluster", read_optional_label)
        context = values.get("context")
        if cluster is None and not is_missing(context) and kind is not AnswerPair:
            cluster = f"context-{hashlib.sha256(repr(context).encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"
        names: dict[str, Any] = {
            "id": f"{own or f'{self.stem}-{row.number:04d}'}{several}",
            "slice": slice_of,
            "cluster": cluster,
        }
        if kind is SummaryPair:
            return SummaryPair(
                **names, **{name: self._read_required(values, name) for name in list_required_fields(kind)}
            )
        if kind is AnswerPair:
            return self._build_pair(values, names)
        names |= self._question_fields(values)
        if kind is RelatedTexts:
            return RelatedTexts(**names, **self._changed_fields(values))
        if kind is not ItemSample:
            return TextSample(**names)
        items = self._read_required(values, "items", read_items)
        relevant = items and self._read_optional(values, "relevant", lambda value: read_place(value, among=len(items)))
        return ItemSample(**names, items=items, relevant=relevant)

    def _question_fields(self, values: Values) -> dict[str, Any]:
        """Return the fields that every text has."""
        cell = values.get("text")
        chat = self._read_chat(values)
        asked: LastQuestion | None = None
        said: str | None
        if chat is not None:
            said = chat.text
        elif is_conversation(cell):
            asked = self._read_optional(values, "text", lambda value: find_last_question(parse_turns(value)))
            said = asked.text if asked else None
        else:
            said = self._read_required(values, "text", lambda value: require_text(take_first_turn(value) or value))
        passage = self._read_optional(values, "context", _read_passage)
        options = self._read_optional(values, "options", read_options)
        if self.description.has_options_in_text:
            said, options = split_off_options(said or "")
        answer = values.get("answer", chat.answer if chat else asked and asked.answer)

        def read_answers(value: Any) -> tuple[str, ...]:
            if options is None:
                calls = read_calls(value) if chat and chat.chat.tools else []
                return (calls_to_json(calls),) if calls else read_open_answers(value, said or "")
            return find_chosen_options(value, options, first_index=self.description.first_index)

        answers: tuple[str, ...] | None = ()
        if self.uses_answers and not (is_missing(answer) and options is None):
            answers = self._read_cell("answer", self._column("answer"), answer, read_answers)
        return {
            "text": said,
            "context": "\n\n".join(filter(None, (passage, asked and asked.before))) or None,
            "options": options.texts if options else (),
            "answers": answers or (),
            **({"chat": chat.chat.prompt, "turn": chat.turn} if chat else {}),
        }

    def _read_chat(self, values: Values) -> AskedChat | None:
        """Return the conversation of a row, or None if it has neither messages nor tools nor a system prompt."""
        cell, kind = values.get("text"), self.description.sample_type
        extras = [name for name in ("system", "tools") if not is_missing(values.get(name))]
        if kind is ItemSample or not (is_message_list(cell) or (extras and isinstance(cell, str) and cell.strip())):
            return None
        tools = self._read_optional(values, "tools", read_tools) if "tools" in extras else ()
        system = self._read_optional(values, "system", require_text) if "system" in extras else None

        def read(value: Any) -> AskedChat | None:
            turns = parse_turns(value) if is_message_list(value) else [Turn("user", require_text(value))]
            return read_chat(turns, turn=self.turn, tools=tools or (), system=system)

        return self._read_optional(values, "text", read)

    def _changed_fields(self, values: Values) -> dict[str, Any]:
        """Return the fields of a changed text."""
        options = self._read_optional(values, "options_after", read_options)
        own = options or self._read_optional(values, "options", read_options)

        def read_answers(value: Any) -> tuple[str, ...]:
            if own is None:
                return read_open_answers(value, str(values.get("after") or values.get("text")))
            return find_chosen_options(value, own, first_index=self.description.first_index)

        answers = self._read_filled(values, "answer_after", read_answers)
        control = self._read_filled(values, "control", require_text)
        return {
            "after": self._read_optional(values, "after", require_text),
            "context_after": self._read_optional(values, "context_after", _read_passage),
            "options_after": options.texts if options else (),
            "answers_after": answers or (),
            "control_text": control,
            "variant": self._read_optional(values, "variant", read_optional_label),
        }

    def _build_pair(self, values: Values, names: Mapping[str, Any]) -> AnswerPair:
        """Make a pair of answers; the answers may begin with the question.

        A row may name the better and the worse answer, or have two answers in their order, with a label or without.
        """
        ranked = "first" not in self.description.fields or not is_missing(values.get("better"))
        order = ("better", "worse") if ranked else ("first", "second")
        winner: Verdict | None = "first" if ranked else None
        if not ranked:
            read_winner = partial(read_preference, first_index=self.description.first_index)
            winner = self._read_filled(values, "winner", read_winner)
        writers = [self._read_optional(values, f"{place}_by", read_optional_label) for place in order]
        replies = [
            self._read_cell(place, self._column(place), values.get(place), _read_reply) or (None, "") for place in order
        ]
        instruction = next((lead for lead, _ in replies if lead), None)
        is_named = "instruction" in self.description.fields
        if (instruction is None and is_named) or not is_missing(values.get("instruction")):
            asked = self._read_required(values, "instruction", _read_instruction)
            passage = self._read_optional(values, "context", _read_passage)
            instruction = "\n\n".join(part for part in (passage, asked) if part)
        return AnswerPair(
            **names,
            instruction=instruction,
            first=replies[0][1],
            second=replies[1][1],
            winner=winner,
            first_by=writers[0],
            second_by=writers[1],
            reference=self._read_optional(
                values, "reference", lambda value: None if value in (None, "") else require_text(value)
            ),
        )

    def _column(self, name: str) -> str:
        """Return the columns of a field, as an error names them."""
        source = self.description.fields.get(name)
        return name if source is None else " + ".join(source.columns)

    def _read_required(self, values: Values, name: str, read: Callable[[Any], Any] = require_text) -> Any:
        """Read a field as `_read_optional`, and note a problem if it is missing."""
        if name not in values:
            column = self._column(name)
            self.problems.append(Problem(f"column {quote(column)} is missing", "every row to have it", column))
        return self._read_optional(values, name, read)

    def _read_filled(self, values: Values, name: str, read: Callable[[Any], Value | None]) -> Value | None:
        """Read a field as `_read_optional`, or return None if its cell is empty."""
        return None if is_missing(values.get(name)) else self._read_optional(values, name, read)

    def _read_optional(self, values: Values, name: str, read: Callable[[Any], Value | None]) -> Value | None:
        """Return the result of `read` for a field, or None if the row has no value there or it cannot be used."""
        return self._read_cell(name, self._column(name), values[name], read) if name in values else None

    def _read_cell(
        self, name: str, column: str | None, value: Any, read: Callable[[Any], Value | None]
    ) -> Value | None:
        """Return the result of `read` for a cell, or note the problem and return None."""
        try:
            return read(value)
        except CellError as error:
            place = quote_all(str(column).split(" + ")) if column else name
            plural = "columns" if " + " in str(column) else "column"
            observed = f"{plural} {place}: {error.problem.observed}"
            self.problems.append(Problem(observed, error.problem.expected, column))
            return None


def _read_instruction(value: Any) -> str:
    """Read a text, or a conversation as a transcript up to the last turn of a user."""
    if not is_conversation(value):
        return require_text(take_first_turn(value) or value)
    turns = parse_turns(value)
    last = find_last_turn(turns, "user")
    return format_turns(turns[: turns.index(turns[last]) + 1]) or turns[last].said


def _read_reply(value: Any) -> tuple[str | None, str]:
    """Read an answer; if it is a conversation, also return the turns before it."""
    if not is_conversation(value):
        return None, require_text(value)
    turns = parse_turns(value)
    last = find_last_turn(turns, "assistant")
    return format_turns(turns[:last]), turns[last].said


def _read_passage(value: Any) -> str | None:
    """Return a passage from a text, a conversation, a list of texts or an object with one, or None if there is none."""
    value = parse_literal(value)
    if is_missing(value):
        return None
    if isinstance(value, str):
        return require_text(value)
    if is_message_list(value):
        return format_turns(parse_turns(value))
    if isinstance(value, Mapping):
        if isinstance(value.get("sentences"), list | tuple):
            # HotpotQA's titles, and the sentences below each.
            titles: Sequence[Any] = value.get("title") or [""] * len(value["sentences"])
            return "\n\n".join(_join_title(*pair) for pair in zip(titles, value["sentences"], strict=False))
        inner = next((value[key] for key in PASSAGES if key in value), None)
        if inner is None:
            raise CellError(f"{quote(value)} is an object", expected="a text, or a list of texts")
        return _read_passage(inner)
    if not isinstance(value, list | tuple):
        return require_label(value)
    paragraphs = []
    for part in value:
        if isinstance(part, list | tuple) and len(part) == 2 and isinstance(part[1], list | tuple):
            paragraphs.append(_join_title(part[0], part[1]))
        elif isinstance(part, Mapping):
            paragraphs.append("\n".join(text for text in part.values() if isinstance(text, str) and text.strip()))
        else:
            paragraphs.append(require_label(part))
    return "\n\n".join(filter(None, paragraphs)) or None


def _join_title(title: Any, sentences: Any) -> str:
    """Return a title above its sentences."""
    body = "".join(map(str, sentences)) if isinstance(sentences, list | tuple) else str(sentences)
    return f"{title}\n{body.strip()}" if title else body.strip()
