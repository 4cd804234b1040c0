"""Samples made of the values of rows."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from contrapose.tasks.core.records import AnswerPair, ItemSample, Sample, SummaryPair, TextSample
from contrapose.tasks.load.answers import chosen_options, open_answers, preferred
from contrapose.tasks.load.conversations import (
    Turn,
    first_of_turns,
    is_conversation,
    is_transcript,
    question_of,
    reply_of,
    transcript,
    turns_of,
)
from contrapose.tasks.load.description import Cells, TableDescription, needed
from contrapose.tasks.load.items import place, read_items
from contrapose.tasks.load.options import Options, options_in, options_within, read_options
from contrapose.tasks.load.rows import (
    Omission,
    Problem,
    Row,
    Unfit,
    is_missing,
    label,
    listed,
    lookup,
    optional_label,
    shown,
    structured,
    text,
)

Value = TypeVar("Value")
Values = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Builder:
    """Makes the samples of one source."""

    description: TableDescription
    """Which column holds which field."""
    stem: str
    """Begins the ids of rows that have none: `<stem>-0001` for row 1."""
    uses_answers: bool = True
    """Whether the test uses right answers; where it does not, nothing about them refuses a row."""
    slice_by: str | None = None
    """Column whose values split the results."""
    problems: list[Problem] = field(default_factory=list)
    """What is wrong with the cells of the row that is being read."""

    def build(self, row: Row) -> Iterator[Sample | Problem | Omission]:
        """The samples of a row, or what is wrong with it, or why it has none."""
        if row.problem is not None:
            yield row.problem
            return
        parts = list(self.description.parts(row))
        for number, part in enumerate(parts, start=1):
            yield part if isinstance(part, Problem) else self._build(row, part, number if len(parts) > 1 else 0)

    def _build(self, row: Row, values: Values, part: int) -> Sample | Problem | Omission:
        self.problems.clear()
        if "winner" in values and str(values["winner"]) == "tie":
            return Omission("a tie: neither is better")
        kind = self.description.sample_type
        sample: Sample | Omission
        names: dict[str, Any] = {"id": self._id(row, values, part), **self._labels(row, values)}
        if kind is SummaryPair:
            sample = SummaryPair(**names, **{name: self._required(values, name) for name in needed(kind)})
        elif kind is AnswerPair:
            sample = self._pair(values, names)
        elif kind is ItemSample:
            sample = self._list(values, names)
        else:
            sample = TextSample(**self._question(values, names))
        if not self.problems:
            return sample
        first, *others = self.problems
        return replace(first, also=tuple(others))

    def _id(self, row: Row, values: Values, part: int) -> str:
        own = None if is_missing(values.get("id")) else self._optional(values, "id", label)
        several = f".{part}" if part and (own is None or not self.description.reshapes_id) else ""
        return f"{own or f'{self.stem}-{row.number:04d}'}{several}"

    def _labels(self, row: Row, values: Values) -> dict[str, Any]:
        """The sample's slice, and its cluster: rows with one context belong together where no column says what does."""
        slice_of = self._reading("slice", self.slice_by, lookup(row.values, self.slice_by or ""), optional_label)
        cluster = self._optional(values, "cluster", optional_label)
        context = values.get("context")
        if cluster is None and not is_missing(context) and self.description.sample_type is not AnswerPair:
            cluster = f"context-{hashlib.sha256(repr(context).encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"
        return {"slice": slice_of, "cluster": cluster}

    def _question(self, values: Values, names: Mapping[str, Any]) -> dict[str, Any]:
        """The fields that every text has."""
        cell = values.get("text")
        conversation = is_conversation(cell) or is_transcript(cell)
        asked = self._optional(values, "text", lambda value: question_of(turns_of(value))) if conversation else None
        said = asked.text if asked else None if conversation else self._required(values, "text", _first_text)
        passage = self._optional(values, "context", _passage)
        parts = [part for part in (passage, asked and asked.before) if part]
        options = self._optional(values, "options", _options)
        if self.description.has_options_in_text:
            said, options = options_within(said or "")
        answer = values.get("answer", asked and asked.answer)
        return {
            **names,
            "text": said,
            "context": "\n\n".join(parts) or None,
            "options": options.texts if options else (),
            "answers": self._answers(answer, options, said or ""),
        }

    def _answers(self, cell: Any, options: Options | None, question: str) -> tuple[str, ...]:
        def read(value: Any) -> tuple[str, ...]:
            if options is None:
                return open_answers(value, question)
            return chosen_options(value, options, first_index=self.description.first_index)

        if not self.uses_answers or (is_missing(cell) and options is None):
            return ()
        return self._reading("answer", self._column("answer"), cell, read) or ()

    def _list(self, values: Values, names: Mapping[str, Any]) -> ItemSample:
        question = self._question(values, names)
        items = self._required(values, "items", read_items)
        relevant = self._optional(values, "relevant", lambda value: place(value, among=len(items))) if items else None
        return ItemSample(**question, items=items, relevant=relevant)

    def _pair(self, values: Values, names: Mapping[str, Any]) -> AnswerPair | Omission:
        writers: dict[str, Any] = {
            name: self._optional(values, name, optional_label) for name in ("better_by", "worse_by")
        }
        answers = {name: values.get(name) for name in ("better", "worse")}
        if "first" in values or "second" in values:
            first = self._optional(values, "winner", preferred)
            if first is None:
                return Omission("a tie: neither is better")
            order = ("first", "second") if first == 1 else ("second", "first")
            answers = {name: values.get(place) for name, place in zip(("better", "worse"), order, strict=True)}
            writers = {
                name: self._optional(values, f"{place}_by", optional_label)
                for name, place in zip(("better_by", "worse_by"), order, strict=True)
            }
        replies = {name: self._reading(name, self._column(name), value, _reply) for name, value in answers.items()}
        leads = [reply[0] for reply in replies.values() if reply and reply[0]]
        return AnswerPair(
            **names,
            **writers,
            instruction=self._instruction(values, leads[0] if leads else None),
            better=replies["better"][1] if replies["better"] else "",
            worse=replies["worse"][1] if replies["worse"] else "",
            reference=self._optional(values, "reference", lambda value: None if value in (None, "") else text(value)),
        )

    def _instruction(self, values: Values, lead: str | None) -> str:
        """What was asked for: the instruction below its context, or what stands before the answers themselves."""
        if is_missing(values.get("instruction")) and lead:
            return lead
        asked = self._required(values, "instruction", _whole_question)
        passage = self._optional(values, "context", _passage)
        return "\n\n".join(part for part in (passage, asked) if part)

    def _column(self, name: str) -> str:
        """The columns of a field, as an error names them."""
        source = self.description.fields.get(name)
        return name if source is None else " + ".join(source.columns)

    def _required(self, values: Values, name: str, read: Callable[[Any], Any] = text) -> Any:
        if name not in values:
            column = self._column(name)
            self.problems.append(Problem(f"column {shown(column)} is missing", "every row to have it", column))
            return None
        return self._reading(name, self._column(name), values[name], read)

    def _optional(self, values: Values, name: str, read: Callable[[Any], Value]) -> Value | None:
        """What `read` makes of a field; None where the row has nothing there, or it cannot be used."""
        return self._reading(name, self._column(name), values[name], read) if name in values else None

    def _reading(self, name: str, column: str | None, value: Any, read: Callable[[Any], Value]) -> Value | None:
        try:
            return read(value)
        except Unfit as error:
            place = listed(str(column).split(" + ")) if column else name
            plural = "columns" if " + " in str(column) else "column"
            observed = f"{plural} {place}: {error.problem.observed}"
            self.problems.append(Problem(observed, error.problem.expected, column))
            return None


def _options(value: Any) -> Options | None:
    return options_in(value) if isinstance(value, Cells) else read_options(value)


def _first_text(value: Any) -> str:
    """A text, or the first of a list of turns."""
    return text(first_of_turns(value) or value)


def _whole_question(value: Any) -> str:
    """A text, or a conversation as a transcript; where it ends with an assistant, without what that says last."""
    if is_conversation(value) or is_transcript(value):
        turns = turns_of(value)
        asked = question_of(turns)
        return "\n\n".join(filter(None, (asked.before, asked.text))) if asked.before is None else (
            transcript([*turns[: turns.index(Turn("user", asked.text)) + 1]]) or asked.text
        )  # fmt: skip
    return _first_text(value)


def _reply(value: Any) -> tuple[str | None, str]:
    """What stands before an answer where it comes as a conversation, and the answer."""
    if is_conversation(value) or is_transcript(value):
        return reply_of(turns_of(value))
    return None, text(value)


def _passage(value: Any) -> str | None:
    """A passage: a text, a conversation, a list of texts, or an object that holds one; None where there is none."""
    value = structured(value)
    if is_missing(value):
        return None
    if isinstance(value, str):
        return text(value)
    if is_conversation(value):
        return transcript(turns_of(value))
    if isinstance(value, Mapping):
        return _of_object(value)
    if isinstance(value, list | tuple):
        return "\n\n".join(part for part in map(_paragraph, value) if part) or None
    return label(value)


def _of_object(value: Mapping[str, Any]) -> str | None:
    """The passages of an object: HotpotQA's titles beside sentences, or the first list or text of another one."""
    if isinstance(value.get("sentences"), list | tuple):
        titles: Sequence[Any] = value.get("title") or [""] * len(value["sentences"])
        return "\n\n".join(_titled(title, part) for title, part in zip(titles, value["sentences"], strict=False))
    inner = next(
        (value[key] for key in ("contexts", "text", "passages", "paragraphs", "content") if key in value), None
    )
    if inner is None:
        raise Unfit(f"{shown(value)} is an object", expected="a text, or a list of texts")
    return _passage(inner)


def _paragraph(value: Any) -> str:
    """One of several passages: a text, or HotpotQA's pair of a title and its sentences."""
    if isinstance(value, list | tuple) and len(value) == 2 and isinstance(value[1], list | tuple):
        return _titled(value[0], value[1])
    if isinstance(value, Mapping):
        return "\n".join(str(part) for part in value.values() if isinstance(part, str) and part.strip())
    return label(value)


def _titled(title: Any, sentences: Any) -> str:
    body = "".join(map(str, sentences)) if isinstance(sentences, list | tuple) else str(sentences)
    return f"{title}\n{body.strip()}" if title else body.strip()
