"""Pack the samples for the page: columns of all rows, texts in blocks, toxic words marked for masking."""

from __future__ import annotations

import base64
import gzip
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd

from contrapose.tasks.probes.toxic_words.count import find_doubtful
from contrapose.tasks.report.base import SentPrompts
from contrapose.tasks.report.failures import list_texts
from contrapose.tasks.report.publish import StoredResults
from contrapose.tasks.report.rows import OUTCOMES, ReportRow, classify, cut_name, omit_controls, read_rows
from contrapose.tasks.text.cleaning import cut_text, show_hidden
from contrapose.tasks.text.diff import mark_differences
from contrapose.tasks.text.masking import LONGEST, find_bad_words, hides_characters

MOST_ROWS = 100_000
"""Rows on one page. Controls are left out first, then passed rows."""

MOST_BYTES = 24_000_000
"""Packed texts on one page; the rows beyond are there without them."""

BLOCK = 1_000
"""Rows whose texts are packed together; a text that several of them share is there once."""

Frame = tuple[tuple[int, ...], ...]
"""For each prompt of a case the numbers of the texts around its own, or of the complete prompt."""

PageText = str | list[str]
"""A text; or pieces of it, in which every second one is a toxic word, raw."""


@dataclass(slots=True, kw_only=True)
class SampleData:
    """Packed data of the samples; write the texts first, then the columns."""

    results: StoredResults
    places: Sequence[int]
    """Rows of the results that fit on the page."""
    prompts: Iterator[SentPrompts]
    """Prompts that were sent for the cases, in the order of the results."""
    before_prompts: Sequence[tuple[str, str]]
    """Roles and texts of the messages before every prompt."""
    show_toxic: bool
    show_langtest: bool
    cut_off: int = 0
    """Rows whose texts did not fit; known when the texts are written."""
    names: dict[str, int] = field(default_factory=dict)
    """Names of the details, numbered."""
    columns: dict[str, list[Any]] = field(default_factory=lambda: defaultdict(list))
    _read_ahead: dict[str, SentPrompts] = field(default_factory=dict)

    def texts(self) -> Iterator[str]:
        """Yield packed blocks of rows; base64 keeps each safe inside a script element."""
        written = 0
        rest = self._rows()
        while rows := list(islice(rest, BLOCK)):
            for row, number, _ in rows:
                self.columns["test"].append(row.test)
                self.columns["id"].append(row.id)
                self.columns["number"].append("" if row.control else number)
                self.columns["score"].append(row.score)
                self.columns["outcome"].append(str(OUTCOMES.index(row.outcome)))
                self.columns["control"].append("1" if row.control else "0")
            if written >= MOST_BYTES:
                self.cut_off += len(rows)
                continue
            packed = pack_json(self._block(rows))
            written += len(packed)
            yield packed

    def packed_columns(self) -> str:
        """Return the packed columns for sorting and filtering; complete only after the texts are written."""
        tests = {name: number for number, name in enumerate(dict.fromkeys(self.columns["test"]))}
        before = clean_texts((text for _, text in self.before_prompts), show_toxic=self.show_toxic, longest=LONGEST)
        return pack_json(
            {
                "block": BLOCK,
                "tests": list(tests),
                "open": list_texts(tests),
                "names": list(self.names),
                "before": [(role, text) for (role, _), text in zip(self.before_prompts, before, strict=True)],
                "test": [tests[name] for name in self.columns["test"]],
                **{name: self.columns[name] for name in ("id", "number", "score")},
                **{name: "".join(self.columns[name]) for name in ("outcome", "control")},
            }
        )

    def _rows(self) -> Iterator[tuple[ReportRow, str, SentPrompts | None]]:
        """Yield the rows that fit, raw, with case number and sent prompts (None if these are gone)."""
        start = 0
        places = np.asarray(self.places, dtype=int)
        for part in self.results.parts():
            own = places[(places >= start) & (places < start + len(part))] - start
            start += len(part)
            # A part has the columns of all tests; reading those of the others, which are empty, takes most of the time.
            fitting = hide_langtest(part.iloc[own], show_langtest=self.show_langtest).dropna(axis=1, how="all")
            ids = part["case_id"].tolist() if "case_id" in part else [None] * len(part)
            missing = {name for name in ids if isinstance(name, str)} - self._read_ahead.keys()
            while missing and (prompts := next(self.prompts, None)):
                self._read_ahead[prompts.case_id] = prompts
                missing.discard(prompts.case_id)
            sent = [self._read_ahead.pop(name, None) if isinstance(name, str) else None for name in ids]
            yield from zip(read_rows(fitting, str), number_cases(fitting), [sent[place] for place in own], strict=True)

    def _block(self, rows: Sequence[tuple[ReportRow, str, SentPrompts | None]]) -> dict[str, object]:
        """Return a block's distinct texts, each row's text numbers, and lengths of shared and own parts in turn.

        The numbers are those of five texts, then of names and texts of details. What was sent is a frame by its number:
        what comes before and after both texts in their prompts, or a complete prompt where its text is not in it; null
        where nothing is known.
        """
        places: dict[str, int] = {}

        def at(text: str) -> int:
            return places.setdefault(text, len(places))

        indices: list[list[int]] = []
        for row, _, _ in rows:
            own = [*map(at, (row.original, row.changed, row.before, row.after, row.reason))]
            for name, text in row.details:
                own += self.names.setdefault(name, len(self.names)), at(text)
            indices.append(own)
        frames: dict[Frame | None, int] = {}
        framed = []
        for row, _, sent in rows:
            frame = None
            if sent:
                sides = ((sent.original, row.original), (sent.changed, row.changed))
                frame = tuple(tuple(map(at, split_prompt(prompt, text))) for prompt, text in sides)
            framed.append(frames.setdefault(frame, len(frames)))
        texts, parts = mark_texts(places, [(own[0], own[1]) for own in indices], show_toxic=self.show_toxic)
        return {"texts": texts, "rows": indices, "parts": parts, "frames": list(frames), "framed": framed}


def mark_texts(
    raw: Iterable[str], pairs: Sequence[tuple[int, int]], *, show_toxic: bool
) -> tuple[list[PageText], list[list[list[int]]]]:
    """Return texts as the page stores them; for each pair also the lengths of shared and own parts in turn."""
    texts = clean_texts(raw, show_toxic=show_toxic, longest=LONGEST)
    # Several replies may be to the same two prompts.
    marked = {pair: mark_differences(*("".join(texts[place]) for place in pair)) for pair in set(pairs)}
    return texts, [[[*map(len, side)] for side in marked[pair]] for pair in pairs]


def split_prompt(prompt: str, text: str) -> tuple[str, ...]:
    """Return what precedes and follows a text in its prompt, or the full prompt if the cut would split a word."""
    before, same, after = prompt.partition(text)
    torn = before[-1:].isalnum() or after[:1].isalnum()
    return (before, after) if text and same and not torn else (prompt,)


def pack_json(content: object) -> str:
    """Return content as JSON, compressed and encoded in base64."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()
    return base64.b64encode(gzip.compress(text, compresslevel=6, mtime=0)).decode()


def select_rows(figures: pd.DataFrame) -> list[int]:
    """Return positions of the rows that fit on the page, in the order of the results."""
    if len(figures) <= MOST_ROWS:
        return list(range(len(figures)))
    dispensable = (classify(figures) == "pass").astype(int).mask(~figures.index.isin(omit_controls(figures).index), 2)
    return sorted(dispensable.to_numpy().argsort(kind="stable")[:MOST_ROWS].tolist())


def hide_langtest(rows: pd.DataFrame, *, show_langtest: bool) -> pd.DataFrame:
    """Return the rows without LangTest's verdicts, unless `show_langtest`."""
    if show_langtest:
        return rows
    return rows.drop(columns=[name for name in rows if str(name).startswith("langtest_")])


def number_cases(rows: pd.DataFrame) -> list[str]:
    """Return the number of each row within its sample, `2` of `option_order/question-7/2`; empty if there is one."""
    numbers = []
    for test, sample, case in rows.reindex(columns=["test_type", "sample_id", "case_id"]).itertuples(index=False):
        beyond = f"{test}/{sample}/"
        is_one = isinstance(case, str) and case.startswith(beyond)
        numbers.append(cut_name(case.removeprefix(beyond)) if is_one else "")
    return numbers


def clean_texts(raw: Iterable[str], *, show_toxic: bool, longest: int) -> list[PageText]:
    """Return texts as the page stores them, in order: cleaned, cut, toxic words separated for masking."""
    kept = [cut_text(text, longest) for text in raw]
    # Reading a text for toxic words takes far longer than this search in all of them.
    doubts = [False] * len(kept) if show_toxic else find_doubtful(kept)
    texts: list[PageText] = []
    for text, doubt in zip(kept, doubts, strict=True):
        pieces, place = list[str](), 0
        # Cleaned after the words are found: reading sees through hidden characters only while they are there.
        for start, end in find_bad_words(text) if doubt or (not show_toxic and hides_characters(text)) else ():
            pieces += show_hidden(text[place:start]), show_hidden(text[start:end])
            place = end
        texts.append([*pieces, show_hidden(text[place:])] if pieces else show_hidden(text))
    return texts
