"""A row made into a sample, options and answers in the shapes that data sets give them included."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar, overload

from contrapose.tasks.config.data_settings import DataSettings
from contrapose.tasks.core.records import AnswerPair, ItemSample, Sample, SummaryPair, TextSample
from contrapose.tasks.load.columns import candidates, column_of, label, option_columns, optional_label, required, text
from contrapose.tasks.load.items import place, read_items
from contrapose.tasks.load.rows import Problem, Row, Unfit, listed, shown
from contrapose.tasks.probes.base import letters

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True, kw_only=True)
class Builder:
    """Makes the samples of one source."""

    data: DataSettings
    """The source and its columns."""
    sample_type: type[Sample]
    """What its rows become."""
    stem: str
    """Begins the ids of rows that have none: `<stem>-0001` for row 1."""
    unfit: list[Problem] = field(default_factory=list)
    """What is wrong with the cells of the row that is being read."""

    def build(self, row: Row) -> Sample | Problem:
        """The sample of a row, or what is wrong with it."""
        if row.problem is not None:
            return row.problem
        self.unfit.clear()
        sample = self._sample(row)
        if self.unfit:
            first, *others = self.unfit
            return replace(first, also=tuple(others))
        return sample

    def _sample(self, row: Row) -> Sample:
        if self.sample_type is SummaryPair:
            return SummaryPair(**self._common(row))
        if self.sample_type is AnswerPair:
            return self._pair(row)
        return self._list(row) if self.sample_type is ItemSample else TextSample(**self._question(row))

    def _common(self, row: Row) -> dict[str, Any]:
        """The fields that every sample has: its texts, and what names it."""
        names = {name: self._optional(row, name, optional_label) for name in ("slice", "cluster")}
        texts = {name: self._required(row, name) for name in required(self.sample_type) if name != "items"}
        return {"id": self._id(row), **texts, **names}

    def _pair(self, row: Row) -> AnswerPair:
        writers: dict[str, Any] = {
            name: self._optional(row, name, optional_label) for name in ("better_by", "worse_by")
        }
        reference = self._optional(row, "reference", _reference)
        return AnswerPair(**self._common(row), **writers, reference=reference)

    def _list(self, row: Row) -> ItemSample:
        question = self._question(row)
        items = self._required(row, "items", read_items)
        relevant = self._optional(row, "relevant", lambda value: place(value, among=len(items))) if items else None
        return ItemSample(**question, items=items, relevant=relevant)

    def _question(self, row: Row) -> dict[str, Any]:
        """The fields that every text has."""
        options = self._options(row)
        answer = self._optional(row, "answer", lambda value: _answer(value, options))
        return {**self._common(row), "options": options.texts if options else (), "answer": answer}

    def _options(self, row: Row) -> Options | None:
        """Those of one column, or of a column each; the last ones may be empty."""
        columns = option_columns(self.data)
        if not columns:
            return self._optional(row, "options", _options)
        cells = [row.values.get(column) for column in columns]
        while cells and cells[-1] in (None, ""):
            cells.pop()
        try:
            return read_options([label(cell) for cell in cells]) if cells else None
        except Unfit as error:
            where = ", ".join(map(shown, columns))
            self.unfit.append(Problem(f"columns {where}: {error.problem.observed}", error.problem.expected, columns[0]))
            return None

    def _id(self, row: Row) -> str:
        return self._optional(row, "id", label) or f"{self.stem}-{row.number:04d}"

    @overload
    def _required(self, row: Row, name: str) -> str: ...

    @overload
    def _required(self, row: Row, name: str, read: Callable[[Any], Value]) -> Value: ...

    def _required(self, row: Row, name: str, read: Callable[[Any], Any] = text) -> Any:
        column = column_of(name, row.values, self.data)
        if column is None:
            column = candidates(name, self.data)[-1]
            self.unfit.append(Problem(f"column {shown(column)} is missing", "every row to have it", column))
            return None
        return self._optional(row, name, read)

    def _optional(self, row: Row, name: str, read: Callable[[Any], Value]) -> Value | None:
        """What `read` makes of a field; None when the row has no column for it, or it cannot be used."""
        column = column_of(name, row.values, self.data)
        if column is None:
            return None
        try:
            return read(row.values[column])
        except Unfit as error:
            observed = f"column {shown(column)}: {error.problem.observed}"
            self.unfit.append(Problem(observed, error.problem.expected, column))
            return None


def _reference(value: Any) -> str | None:
    """A text, or None where there is none: not every instruction has an answer that is known to be right."""
    return None if value is None or value == "" else text(value)


def _options(value: Any) -> Options | None:
    return None if value is None else read_options(value)


def _answer(value: Any, options: Options | None) -> str | None:
    if value is None:
        return None
    return resolve(value, options) if options else text(value).strip()


MOST = 26
LETTERED = re.compile(r"\s*(?:\(([A-Z])\)|([A-Z])[.)])(?:\s+|$)")
"""How an option's letter is written: "A. ", "A) " or "(A) "."""


SHAPES = 'a list as JSON, such as ["hot", "cold"], or lines that begin with A. , B. , C. , …'
"""What a text that holds options looks like."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Option texts, and what the source calls them."""

    texts: tuple[str, ...]
    """Without letters, in the source's order."""
    labels: tuple[str, ...]
    """What an answer may call them."""
    labelled: bool
    """Whether the source itself gave the labels; else they are A, B, C, …"""


def read_options(value: Any) -> Options:
    """Options from a list, a list as JSON, a block of lettered lines, or `{"label": […], "text": […]}`.

    Raises:
        Unfit: it is none of these, fewer than 2 or more than 26, or two are the same.
    """
    if isinstance(value, str):
        value = _from_text(text(value))
    if isinstance(value, dict):
        return _from_mapping(value)
    if not isinstance(value, list | tuple):
        raise Unfit(f"{shown(value)} is no list", expected="a list of texts")
    texts = [text(option).strip() for option in value]
    bare = _without_letters(texts)
    return _checked(texts if bare is None else bare, letters(len(texts)), labelled=bare is not None)


def resolve(answer: Any, options: Options) -> str:
    """Text of the option that an answer means: "quit eating lunch out", "B" or "B. quit eating lunch out".

    Where the source gives labels, one of them comes before an option of the same text.

    Raises:
        Unfit: it is none of the options.
    """
    wanted = text(answer).strip()
    named = dict(zip(options.labels, options.texts, strict=True))
    if options.labelled and wanted in named:
        return named[wanted]
    if wanted in options.texts:
        return wanted
    option = _by_letter(wanted, named)
    if option is None:
        raise Unfit(f"{shown(wanted)} is none of the options", expected=f"one of {listed(options.texts, most=4)}")
    return option


def _by_letter(wanted: str, named: dict[str, str]) -> str | None:
    """The option whose letter the answer is, or begins with when the option's own text follows."""
    if wanted in named:
        return named[wanted]
    match = LETTERED.match(wanted)
    if match is None:
        return None
    option, rest = named.get(match[1] or match[2]), wanted[match.end() :].strip()
    return option if rest in ("", option) else None


def _from_text(value: str) -> Any:
    """A list or an object that is written as JSON, or the lines of a lettered block."""
    if value.lstrip().startswith(("[", "{")):
        try:
            return json.loads(value)
        except (ValueError, RecursionError) as error:
            raise Unfit(f"{shown(value)} is not JSON", expected="a list of texts as JSON") from error
    return _block(value)


def _block(value: str) -> list[str]:
    """Lettered options, one or more lines each; the letters must run from A without a gap."""
    options: list[str] = []
    for line in value.strip().replace("\r\n", "\n").split("\n"):
        match = LETTERED.match(line)
        if match is None and options:
            options[-1] += f"\n{line}"
        elif match is None or (match[1] or match[2]) != letters(len(options) + 1)[-1]:
            raise Unfit(f"{shown(line)} in a block of options", expected=SHAPES)
        else:
            options.append(line)
    return options


def _without_letters(texts: Sequence[str]) -> list[str] | None:
    """Options without the letters that they begin with; None when these do not run A, B, C and so on."""
    matches = [LETTERED.match(option) for option in texts]
    written = tuple((match[1] or match[2]) if match else "" for match in matches)
    if written != letters(len(texts)):
        return None
    return [option[match.end() :].strip() for option, match in zip(texts, matches, strict=True) if match]


def _from_mapping(value: dict[str, Any]) -> Options:
    texts, labels = value.get("text"), value.get("label")
    if not isinstance(texts, list) or not isinstance(labels, list) or len(texts) != len(labels):
        raise Unfit(f"{shown(value)} is no set of options", expected='{"label": […], "text": […]}, equally long')
    if len(set(map(str, labels))) != len(labels):
        raise Unfit(f"labels {shown(labels)}", expected="labels that differ")
    return _checked([text(part).strip() for part in texts], [label(part).strip() for part in labels], labelled=True)


def _checked(texts: Sequence[str], labels: Sequence[str], *, labelled: bool) -> Options:
    if not 2 <= len(texts) <= MOST:
        raise Unfit(f"{len(texts)} {'option' if len(texts) == 1 else 'options'}", expected=f"2 to {MOST} options")
    if "" in texts:
        raise Unfit("an option is blank", expected="a text for each letter")
    twice = next((option for option in texts if texts.count(option) > 1), None)
    if twice is not None:
        raise Unfit(f"option {shown(twice)} is there twice", expected="options that differ")
    return Options(texts=tuple(texts), labels=tuple(labels), labelled=labelled)
