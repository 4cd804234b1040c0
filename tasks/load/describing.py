"""Describe a table by its first rows: find out which column holds which field, by column names first, then by values.

`run`, `preview`, `init` and `validate` use this description. A field only gets a column with fitting values.
"""

from __future__ import annotations

import difflib
import shlex
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

from contrapose.tasks.config.data_settings import DataSettings
from contrapose.tasks.core.errors import DataError, join_errors
from contrapose.tasks.core.records import AnswerPair, Sample, SummaryPair
from contrapose.tasks.load.answers import is_letter
from contrapose.tasks.load.conversations import is_conversation
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
    list_fields,
    list_required_fields,
    normalise_name,
)
from contrapose.tasks.load.finding import (
    HALF,
    MOSTLY,
    TableHead,
    find_answer,
    find_first_index,
    find_options,
    find_pair,
    read_options_or_none,
    yield_answers_with_options,
)
from contrapose.tasks.load.layouts import KnownLayout, find_layout, list_layouts, make_layout_key
from contrapose.tasks.load.rows import Problem, Row, escape, find_value, is_missing, parse_literal, quote, quote_all

HEAD = 1_000
"""Rows at the beginning of a source whose values are looked at."""
EXAMPLES = 8
"""Columns that an error shows with an example."""


def describe_table(rows: Sequence[Row], data: DataSettings, kind: type[Sample]) -> TableDescription:
    """Describe a table by its first rows: settings decide first, then a known layout, then column names and values."""
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
    order = (*list_fields(kind), *CHOSEN)
    fields = {name: finder.fields[name] for name in sorted(finder.fields, key=order.index)}
    description = TableDescription(sample_type=kind, fields=fields, columns=head.columns, layout=layout)
    start, problems = _find_answer_index(head, description, data)
    return replace(description, first_index=start, problems=problems, warnings=_make_warnings(head, description, data))


@dataclass(kw_only=True)
class _Finder:
    """Finder of the column that each field of the samples comes from."""

    head: TableHead
    data: DataSettings
    kind: type[Sample]
    fields: dict[str, FieldSource] = field(default_factory=dict)
    excluded: frozenset[str] = frozenset()
    """Columns that are known to be no part of the question."""

    def taken_columns(self) -> set[str]:
        """Return the columns that no other field may come from."""
        return {column for source in self.fields.values() for column in source.columns} | self.excluded

    def belongs(self, name: str) -> bool:
        """Return whether samples of this type have the field."""
        return name in list_fields(self.kind) or (self.kind is AnswerPair and name in CHOSEN)

    def is_wanted(self, name: str) -> bool:
        """Return whether a field is not found yet and no setting excludes it."""
        return self.belongs(name) and name not in {*self.fields, *self.data.columns}

    def take_settings(self) -> None:
        """Assign the columns that settings name."""
        for name, column in self.data.columns.items():
            if column and self.belongs(name):
                parts = tuple(part.strip() for part in column.split(","))
                several = (
                    name in ("options", "options_after")
                    and len(parts) > 1
                    and all(parts)
                    and column not in self.head.columns
                )
                self.fields[name] = FieldSource(columns=parts if several else (column,), reason="set")
        if self.data.cluster_by:
            self.fields["cluster"] = FieldSource(columns=(self.data.cluster_by,), reason="cluster_by")

    def take_layout(self, layout: KnownLayout) -> None:
        """Assign the columns of a known layout; a layout's text is the instruction of a pair."""
        by_key = {make_layout_key(path): path for path in self.head.values}
        self.excluded = frozenset(by_key[key] for key in layout.not_asked if key in by_key)
        known = {name: tuple(by_key[key] for key in keys if key in by_key) for name, keys in layout.fields.items()}
        if self.kind is AnswerPair:
            known.setdefault("instruction", known.get("text", ()))
        for name, columns in known.items():
            if columns and self.is_wanted(name):
                self.fields[name] = FieldSource(columns=columns, reason=f"columns of {layout.name}")

    def guess(self) -> None:
        """Assign the columns whose names and values fit the fields that are still missing."""
        head = self.head
        if self.kind is AnswerPair and self.is_wanted("better") and self.is_wanted("worse"):
            self.fields |= {name: source for name, source in find_pair(head).items() if self.is_wanted(name)}
            if {"first", "second"} <= self.fields.keys() and self.is_wanted("winner"):
                self.fields |= {"winner": source} if (source := self.find_source("winner")) else {}
        for name in list_fields(self.kind):
            if self.is_wanted(name) and (source := self.find_source(name)):
                self.fields[name] = source
        if not self.is_wanted("text") or self.kind in (SummaryPair, AnswerPair):
            return
        # Where no column is called what a question is, the only column of sentences is taken.
        taken = self.taken_columns()
        texts = [
            path
            for plain, path in head.paths.items()
            if not (path in taken or NO_QUESTION.fullmatch(plain) or plain in (*CONTEXTS, *COMPARED))
            and head.is_text(path)
            and head.mean_words(path) >= 3
            and 2 * len(set(map(str, head.values[path]))) > len(head.rows)
        ]
        if len(texts) == 1:
            self.fields["text"] = FieldSource(columns=(texts[0],), reason="the only column of sentences")

    def find_source(self, name: str) -> FieldSource | None:
        """Return the column whose name and values fit a field."""
        text = self.fields["text"].columns[0] if "text" in self.fields else None
        if name == "options":
            return find_options(self.head, text=text)
        if name == "answer":
            return find_answer(self.head, taken=self.taken_columns(), options=self.fields.get("options"))
        head = self.head

        def is_passage(path: str) -> bool:
            return head.holds(path, (str, list, dict))

        fits = {"text": head.is_question, "context": is_passage, "id": head.is_id, "winner": head.is_preference}
        is_fit = fits.get(name, bool)
        known = [
            plain for plain in NAMES[name] if plain in head.paths and head.paths[plain] not in self.taken_columns()
        ]
        # An input is a context only next to an instruction.
        asked = ("instruction", "prompt", "question", "query", "task")
        if name == "context" and text and normalise_name(text) not in asked:
            known = [plain for plain in known if plain not in ("input", "text")]
        # A text that is called one is taken whatever it holds, so that what is wrong with it is said row by row.
        must = name in list_required_fields(self.kind)
        fitting = [plain for plain in known if is_fit(head.paths[plain])]
        fitting += [plain for plain in known if must and not head.holds(head.paths[plain], (list, dict), share=HALF)]
        return FieldSource(columns=(head.paths[fitting[0]],), reason=f"called {fitting[0]}") if fitting else None


def _find_answer_index(
    head: TableHead, description: TableDescription, data: DataSettings
) -> tuple[int | None, tuple[str, ...]]:
    """Return the number of the first option in answers that are indexes, and the reasons why answers cannot be read."""
    answer, options = description.fields.get("answer"), description.fields.get("options")
    if description.sample_type is AnswerPair:
        return data.answer_index, () if data.answer_index is not None else tuple(
            _check_winner_column(head, description)
        )
    if answer is None or description.sample_type is SummaryPair:
        return None, ()
    name = quote_all(answer.columns)
    if options is None:
        values = [value for value, _ in yield_answers_with_options(head.rows, answer, None)]
        letters = bool(values) and all(map(is_letter, values))
        return None, (f"column {name} holds letters, and no column is read as options",) if letters else ()
    if data.answer_index is not None:
        return data.answer_index, ()
    pairs = yield_answers_with_options(head.rows, answer, options)
    if description.reshapes:
        parts = (part for row in head.rows for part in description.parts(row) if not isinstance(part, Problem))
        pairs = (
            (p["answer"], read_options_or_none(p.get("options"))) for p in parts if not is_missing(p.get("answer"))
        )
    start, is_open = find_first_index(pairs)
    return start, (f"column {name} holds numbers that may count options from 0 or from 1",) if is_open else ()


def _check_winner_column(head: TableHead, description: TableDescription) -> Iterator[str]:
    """Yield a problem if a winner column has only 0 and 1, because 0 may mean the first answer or a tie."""
    winner = description.fields.get("winner")
    if winner is None or description.layout is not None or len(winner.columns) > 1:
        return
    values = {str(value).strip().removesuffix(".0") for value in head.values.get(winner.columns[0], ())}
    if "0" in values and values <= {"0", "1"}:
        yield f"column {quote_all(winner.columns)} holds 0 and 1, which may count answers from 0 or from 1, 0 for a tie"


def _make_warnings(head: TableHead, description: TableDescription, data: DataSettings) -> tuple[str, ...]:
    """Return warnings about columns that look like parts of the question but are not read, and the layout's note."""
    layout, fields = description.layout, description.fields
    notes = [f"{layout.name}: {layout.note}"] if layout and layout.note else []
    if description.sample_type in (SummaryPair, AnswerPair) or description.reshapes or "text" not in fields:
        return tuple(notes)
    read = [column for source in fields.values() for column in source.columns]

    def flatten(value: object) -> str:
        return " ".join(str(value).split()).casefold()

    def is_within(row: Row, path: str) -> bool:
        said = row.values.get(path)
        texts = (flatten(parse_literal(find_value(row.values, column))) for column in read)
        return isinstance(said, str) and any(flatten(said) in text for text in texts)

    def is_part(path: str) -> bool:
        # Sentences that no column which is read holds as well.
        if NO_QUESTION.fullmatch(normalise_name(path)) or not head.holds(path, str) or head.mean_words(path) < WORDS:
            return False
        return sum(is_within(row, path) for row in head.rows) < MOSTLY * len(head.values[path])

    members = {path for plain, path in head.paths.items() if FAMILY.fullmatch(plain)}
    lone = members if "options" not in fields and len(members) > 1 else set()
    skipped = {path for path in head.columns if layout and make_layout_key(path) in layout.not_asked}
    skipped |= {*description.used_columns, *data.columns.values()}
    skipped |= {part.strip() for columns in data.columns.values() for part in columns.split(",")}
    for path in head.columns:
        if path in skipped:
            continue
        named = normalise_name(path) in NAMES["options"]
        is_options = named and head.share(path, lambda value: read_options_or_none(value) is not None) >= MOSTLY
        if is_options or path in lone or is_part(path):
            notes.append(
                f"column {quote(path)} looks like a part of the question and is not asked: name it, such as "
                f"--set data.columns.context={escape(path)}, or leave it out of the file"
            )
    return tuple(notes)


def list_missing_fields(description: TableDescription, rows: Sequence[Row]) -> list[str]:
    """Return the fields that every sample needs but no column holds."""
    missing = [name for name in list_required_fields(description.sample_type) if name not in description.fields]
    if {"first", "second"} <= description.fields.keys():
        missing = [name for name in missing if name not in ("better", "worse")]
    head = TableHead(rows=rows)
    if missing == ["instruction"] and not any(
        head.is_question(column) and head.mean_words(column) >= 3 for column in description.unread
    ):
        # Two answers are enough where no column could be what they answer.
        return []
    answers = [description.fields[name] for name in ("better", "first") if name in description.fields]
    if answers and "instruction" in missing:
        # Answers that are complete conversations say themselves what they answer.
        column = answers[0].columns[0]
        if any(is_conversation(find_value(row.values, column)) for row in rows):
            missing.remove("instruction")
    return missing


def refuse_table_without_question(
    description: TableDescription, rows: Sequence[Row], data: DataSettings, *, uses_answers: bool
) -> None:
    """Raise DataError if no question can be made from a table.

    Settings name a column or layout that is not there, a field that every sample needs comes from no column, or answers
    cannot be read by a test that uses them.
    """
    where, columns = escape(data.source), description.columns
    if data.layout is not None and description.layout is None:
        raise DataError(
            f"the columns do not match layout {quote(data.layout)}",
            expected=f"one of {', '.join(list_layouts())}, with its columns",
            remedy="Leave layout out: a known data set is recognised by its columns.",
            where=where,
        )
    settings = [
        (f"columns.{name}", column)
        for name, source in description.fields.items()
        if source.reason == "set"
        for column in source.columns
    ]
    absent = [
        (key, column)
        for key, column in (*settings, ("slice_by", data.slice_by), ("cluster_by", data.cluster_by))
        if column and column not in columns and column.partition(".")[0] not in columns
    ]
    problems = []
    for key, column in absent:
        close = difflib.get_close_matches(column, columns, n=1)
        problems.append(
            DataError(
                f"{key} names column {quote(column)}, which is not there",
                expected=f"one of the columns {quote_all(columns)}",
                remedy=f"Did you mean {quote(close[0])}?" if close else f"Set {key} to one of these.",
                where=where,
            )
        )
    missing = [name for name in list_missing_fields(description, rows) if f"columns.{name}" not in dict(absent)]
    if description.sample_type is AnswerPair and data.columns.get("instruction") == "":
        missing = [name for name in missing if name != "instruction"]
    problems += [
        _make_missing_column_error(name, columns, rows, where, taken=description.used_columns) for name in missing
    ]
    for problem in description.problems if uses_answers and not problems else ():
        remedy = "Add --set data.answer_index=0, or --set data.answer_index=1."
        if "letters" in problem:
            remedy = (
                "Name the columns of the options with --set data.columns.options=A,B,C,D, or leave the answers out "
                "with --set data.columns.answer="
            )
        problems.append(DataError(problem, expected="answers that mean an option", remedy=remedy, where=where))
    if problems:
        raise join_errors(problems)


def _make_missing_column_error(
    name: str, columns: Sequence[str], rows: Sequence[Row], where: str, *, taken: Collection[str]
) -> DataError:
    """Return the error that no column holds a field; it shows columns with values, and suggests one not `taken`."""
    free = [column for column in columns if column not in taken]
    close = [match for known in NAMES[name] for match in difflib.get_close_matches(known, free, n=1)]
    column = escape(close[0]) if close else "COLUMN"
    option = shlex.quote(f"data.columns.{name}={column}")
    examples = []
    for shown in columns[:EXAMPLES]:
        value = next((row.values[shown] for row in rows if not is_missing(row.values.get(shown))), None)
        examples.append(f"{quote(shown)} (such as {escape(' '.join(str(value).split()), most=40)})")
    rest = f" and {len(columns) - EXAMPLES} more" if len(columns) > EXAMPLES else ""
    usual = " or ".join(map(quote, NAMES[name][:3]))
    return DataError(
        "no column can be the question" if name == "text" else f"there is no column {usual}",
        expected=f"one of the columns {', '.join(examples) or 'none'}{rest}",
        remedy=f"Name the column that holds it: --set {option}, or columns: {{{name}: {column}}} next to the source.",
        where=where,
    )
