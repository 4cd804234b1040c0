"""Describes a table by its first rows: names are looked at first, then values.

`run`, `preview`, `init` and `validate` take the description from here. A column is only taken for
what its values can be.
"""

from __future__ import annotations

import difflib
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from contrapose.tasks.config.data_settings import DataSettings
from contrapose.tasks.core.errors import DataError, together
from contrapose.tasks.core.records import AnswerPair, Sample, SummaryPair
from contrapose.tasks.load.answers import is_letter
from contrapose.tasks.load.conversations import is_conversation, is_transcript
from contrapose.tasks.load.description import (
    CHOSEN,
    COMPARED,
    CONTEXTS,
    FAMILY,
    NAMES,
    NO_QUESTION,
    WORDS,
    FieldSource,
    TableDescription,
    fields_of,
    needed,
    plain_name,
)
from contrapose.tasks.load.finding import (
    MOSTLY,
    TableHead,
    answers_beside_options,
    find_answer,
    find_options,
    find_pair,
    first_index,
    options_of,
)
from contrapose.tasks.load.layouts import KnownLayout, find_layout, layout_key, layout_names
from contrapose.tasks.load.options import Options
from contrapose.tasks.load.rows import Problem, Row, escaped, is_missing, listed, lookup, shown, structured

HEAD = 1_000
"""Rows at the beginning of a source whose values are looked at."""
EXAMPLES = 8
"""Columns that an error shows with an example."""


def describe(rows: Sequence[Row], data: DataSettings, kind: type[Sample]) -> TableDescription:
    """Describe a table by its first rows: settings come before a known layout, that before names and values.

    Args:
        rows: the first ones, without those that could not be read.
        data: the source, and the columns that are set for it.
        kind: type of the samples that are wanted.
    """
    head = TableHead(rows=rows)
    finder = _Finder(head=head, data=data, kind=kind)
    finder.take_settings()
    layout = find_layout(head.values, name=data.layout)
    if layout and layout.reshape and finder.fields:
        layout = None
    if layout:
        finder.take_layout(layout)
    if layout is None or layout.reshape is None:
        finder.guess()
    order = (*fields_of(kind), *CHOSEN)
    fields = {name: finder.fields[name] for name in sorted(finder.fields, key=order.index)}
    description = TableDescription(sample_type=kind, fields=fields, columns=head.columns, layout=layout)
    return description.with_answers(*_answers(head, description, data), warnings=_unused(head, description, data))


@dataclass(kw_only=True)
class _Finder:
    """Finds where each field of the samples comes from."""

    head: TableHead
    data: DataSettings
    kind: type[Sample]
    fields: dict[str, FieldSource] = field(default_factory=dict)
    excluded: frozenset[str] = frozenset()
    """Columns that are known to be no part of the question."""

    @property
    def taken(self) -> set[str]:
        """Columns that no further field may come from."""
        return {column for source in self.fields.values() for column in source.columns} | self.excluded

    def is_wanted(self, name: str) -> bool:
        """Whether a field belongs to the samples, and no setting says where it is or that it is not to be read."""
        return self._belongs(name) and name not in {*self.fields, *self.data.columns}

    def _belongs(self, name: str) -> bool:
        return name in fields_of(self.kind) or (self.kind is AnswerPair and name in CHOSEN)

    def take_settings(self) -> None:
        """Take the columns that settings name."""
        for name, column in self.data.columns.items():
            if column and self._belongs(name):
                parts = tuple(part.strip() for part in column.split(","))
                several = name == "options" and len(parts) > 1 and all(parts) and column not in self.head.columns
                self.fields[name] = FieldSource(columns=parts if several else (column,), reason="set")
        if self.data.cluster_by:
            self.fields["cluster"] = FieldSource(columns=(self.data.cluster_by,), reason="cluster_by")

    def take_layout(self, layout: KnownLayout) -> None:
        """Take the columns of a known layout; a pair's instruction is what is asked of a text."""
        by_key = {layout_key(path): path for path in self.head.values}
        self.excluded = frozenset(by_key[key] for key in layout.not_asked if key in by_key)
        known = {name: tuple(by_key[key] for key in keys if key in by_key) for name, keys in layout.fields.items()}
        if self.kind is AnswerPair:
            known.setdefault("instruction", known.get("text", ()))
        for name, columns in known.items():
            if columns and self.is_wanted(name):
                self.fields[name] = FieldSource(columns=columns, reason=f"columns of {layout.name}")

    def guess(self) -> None:
        """Take the columns whose names and values fit the fields that are still missing."""
        if self.kind is AnswerPair and self.is_wanted("better") and self.is_wanted("worse"):
            self.fields |= find_pair(self.head)
        for name in fields_of(self.kind):
            if self.is_wanted(name) and (source := self._field(name)):
                self.fields[name] = source
        if self.is_wanted("text") and self.kind not in (SummaryPair, AnswerPair):
            self._take_only_text()

    def _field(self, name: str) -> FieldSource | None:
        if name == "options":
            return find_options(self.head, text=self.fields["text"].columns[0] if "text" in self.fields else None)
        if name == "answer":
            return find_answer(self.head, taken=self.taken, options=self.fields.get("options"))
        head = self.head
        fits = {"text": head.is_question, "context": head.is_passage, "id": head.names_rows}.get(name, bool)
        named = [
            (plain, head.named[plain])
            for plain in NAMES[name]
            if plain in head.named and head.named[plain] not in self.taken and self._may_be(name, plain)
        ]
        # A text that is called one is taken whatever it holds, so that what is wrong with it is said row by row.
        plain, path = next(
            (pair for pair in named if fits(pair[1])),
            next((pair for pair in named if name in needed(self.kind) and not head.is_structured(pair[1])), ("", "")),
        )
        return FieldSource(columns=(path,), reason=f"called {plain}") if path else None

    def _may_be(self, name: str, plain: str) -> bool:
        """Whether a column of this name may hold a field here: an input is a context beside an instruction alone."""
        if name != "context" or plain not in ("input", "text") or "text" not in self.fields:
            return True
        return plain_name(self.fields["text"].columns[0]) in ("instruction", "prompt", "question", "query", "task")

    def _take_only_text(self) -> None:
        """Take the only column that holds sentences, where none is called what a question is."""
        head = self.head
        texts = [
            path
            for plain, path in head.named.items()
            if path not in self.taken and not NO_QUESTION.fullmatch(plain) and plain not in (*CONTEXTS, *COMPARED)
            and head.is_text(path) and head.mean_words(path) >= 3 and 2 * len(set(head.values[path])) > len(head.rows)
        ]  # fmt: skip
        if len(texts) == 1:
            self.fields["text"] = FieldSource(columns=(texts[0],), reason="the only column of sentences")


def _answers(head: TableHead, description: TableDescription, data: DataSettings) -> tuple[int | None, tuple[str, ...]]:
    """Where indexes begin to count, and why answers cannot be read."""
    answer, options = description.fields.get("answer"), description.fields.get("options")
    if answer is None or description.sample_type in (SummaryPair, AnswerPair):
        return None, ()
    name = listed(answer.columns)
    if options is None:
        values = [value for value, _ in answers_beside_options(head.rows, answer, None)]
        letters = bool(values) and all(map(is_letter, values))
        return None, (f"column {name} holds letters, and no column is read as options",) if letters else ()
    if data.answer_index is not None:
        return data.answer_index, ()
    start, is_open = first_index(_pairs(head, description, answer, options))
    return start, (f"column {name} holds numbers that may count options from 0 or from 1",) if is_open else ()


def _pairs(
    head: TableHead, description: TableDescription, answer: FieldSource, options: FieldSource
) -> Iterator[tuple[Any, Options | None]]:
    """Answers beside their options, of rows as they are or as a layout makes them."""
    if not description.reshapes:
        yield from answers_beside_options(head.rows, answer, options)
        return
    for part in (part for row in head.rows for part in description.parts(row)):
        if not isinstance(part, Problem) and not is_missing(part.get("answer")):
            yield part["answer"], options_of(part.get("options"))


def _unused(head: TableHead, description: TableDescription, data: DataSettings) -> tuple[str, ...]:
    """Warnings of columns that look like parts of the question and are not read, and the note of a layout."""
    layout, read = description.layout, description.read
    notes = [f"{layout.name}: {layout.note}"] if layout and layout.note else []
    if description.sample_type in (SummaryPair, AnswerPair) or description.reshapes or "text" not in description.fields:
        return tuple(notes)
    members = {path for plain, path in head.named.items() if FAMILY.fullmatch(plain)}
    lone = members if "options" not in description.fields and len(members) > 1 else set()
    skipped = {path for path in head.columns if layout and layout_key(path) in layout.not_asked}
    for path in head.columns:
        if path in read or path in skipped or path in data.columns.values():
            continue
        is_options = plain_name(path) in NAMES["options"] and head.share(path, _lists_options) >= MOSTLY
        if is_options or path in lone or _reads_like_a_part(head, path, description):
            notes.append(
                f"column {shown(path)} looks like a part of the question and is not asked: name it, such as "
                f"--set data.columns.context={escaped(path)}, or leave it out of the file"
            )
    return tuple(notes)


def _lists_options(value: Any) -> bool:
    return options_of(value) is not None


def _reads_like_a_part(head: TableHead, path: str, description: TableDescription) -> bool:
    """Whether a column holds sentences that no column which is read holds as well."""
    if NO_QUESTION.fullmatch(plain_name(path)) or not head.share(path, lambda value: isinstance(value, str)) >= MOSTLY:
        return False
    if head.mean_words(path) < WORDS:
        return False
    contained = sum(_is_within(row, path, description) for row in head.rows)
    return contained < MOSTLY * len(head.values[path])


def _is_within(row: Row, path: str, description: TableDescription) -> bool:
    """Whether what a column holds stands within a column that is read."""
    said = row.values.get(path)
    read = (column for source in description.fields.values() for column in source.columns)
    texts = (_flat(structured(lookup(row.values, column))) for column in read)
    return isinstance(said, str) and any(_flat(said) in text for text in texts)


def _flat(value: Any) -> str:
    return " ".join(str(value).split()).casefold()


def missing_fields(description: TableDescription, rows: Sequence[Row]) -> list[str]:
    """The fields that every sample needs and no column holds."""
    missing = [name for name in needed(description.sample_type) if name not in description.fields]
    if {"first", "second", "winner"} <= description.fields.keys():
        missing = [name for name in missing if name not in ("better", "worse")]
    if "better" in description.fields and "instruction" in missing:
        # Answers that are whole conversations say themselves what they answer.
        values = (lookup(row.values, description.fields["better"].columns[0]) for row in rows)
        if any(is_conversation(value) or is_transcript(value) for value in values):
            missing.remove("instruction")
    return missing


def refuse_unasked(
    description: TableDescription, rows: Sequence[Row], data: DataSettings, *, uses_answers: bool
) -> None:
    """Refuse a table of which no question can be made.

    Raises:
        DataError: settings name a column or layout that is not there, a field that every sample needs comes from no
            column, or answers cannot be read by a test that uses them.
    """
    where = escaped(data.source)
    if data.layout is not None and description.layout is None:
        raise _no_layout(data, where)
    problems = [_not_there(name, column, description, where) for name, column in _absent(description, data)]
    set_fields = {key.partition(".")[2] for key, _ in _absent(description, data)}
    missing = [name for name in missing_fields(description, rows) if name not in set_fields]
    problems += [_without_column(name, description, rows, where) for name in missing]
    if uses_answers and not problems:
        problems += [_unreadable(problem, where) for problem in description.problems]
    if problems:
        raise together(problems)


def _without_column(name: str, description: TableDescription, rows: Sequence[Row], where: str) -> DataError:
    usual = " or ".join(map(shown, NAMES[name][:3]))
    close = [match for known in NAMES[name] for match in difflib.get_close_matches(known, description.columns, n=1)]
    column = escaped(close[0]) if close else "COLUMN"
    option = shlex.quote(f"data.columns.{name}={column}")
    return DataError(
        "no column can be the question" if name == "text" else f"there is no column {usual}",
        expected=f"one of the columns {_with_examples(description.columns, rows)}",
        remedy=f"Name the column that holds it: --set {option}, or columns: {{{name}: {column}}} beside the source.",
        where=where,
    )


def _unreadable(problem: str, where: str) -> DataError:
    remedy = "Say which with --set data.answer_index=0 or 1."
    if "letters" in problem:
        remedy = (
            "Name the columns of the options with --set data.columns.options=A,B,C,D, or leave the answers out with "
            "--set data.columns.answer="
        )
    return DataError(problem, expected="answers that mean an option", remedy=remedy, where=where)


def _no_layout(data: DataSettings, where: str) -> DataError:
    return DataError(
        f"the columns are not those of layout {shown(data.layout)}",
        expected=f"one of {', '.join(layout_names())}, with its columns",
        remedy="Leave layout out: a known data set is recognised by its columns.",
        where=where,
    )


def _absent(description: TableDescription, data: DataSettings) -> Iterator[tuple[str, str]]:
    """Settings that name a column which is not there, each with the column."""
    set_ones = [(f"columns.{name}", column) for name, source in description.fields.items() if source.reason == "set"
                for column in source.columns]  # fmt: skip
    for key, column in (*set_ones, ("slice_by", data.slice_by), ("cluster_by", data.cluster_by)):
        if column and column not in description.columns and column.partition(".")[0] not in description.columns:
            yield key, column


def _not_there(key: str, column: str, description: TableDescription, where: str) -> DataError:
    close = difflib.get_close_matches(column, description.columns, n=1)
    return DataError(
        f"{key} names column {shown(column)}, which is not there",
        expected=f"one of the columns {listed(description.columns)}",
        remedy=f"Did you mean {shown(close[0])}?" if close else "Correct the settings.",
        where=where,
    )


def _with_examples(columns: Sequence[str], rows: Sequence[Row]) -> str:
    """Columns, each with a value that it holds."""

    def example(column: str) -> str:
        value = next((row.values[column] for row in rows if not is_missing(row.values.get(column))), None)
        said = escaped(" ".join(str(value).split()), most=40)
        return f"{shown(column)} (such as {said})"

    rest = f" and {len(columns) - EXAMPLES} more" if len(columns) > EXAMPLES else ""
    return ", ".join(map(example, columns[:EXAMPLES])) + rest if columns else "none"
