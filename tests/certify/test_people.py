"""Labels of people in files of verdicts: layouts, mistakes with their place, and findings of planted judges."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from contrapose.flows.cli import main
from contrapose.tasks.certify.recorded import certify_verdicts
from contrapose.tasks.certify.single_answers import parse_verdict, read_single_answers
from contrapose.tasks.certify.verdict_log import read_verdicts
from contrapose.tasks.core.certificate import Certificate, JudgeFinding
from contrapose.tasks.core.errors import DataError

PAIR = {"judge": "j", "pair": "q1", "first": "x", "second": "y", "verdict": "A"}


def file_of(path: Path, rows: Sequence[Mapping[str, object]]) -> str:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return str(path)


def finding(certificate: Certificate, name: str) -> JudgeFinding:
    return next(one for one in certificate["findings"] if one["name"] == name)


def value(certificate: Certificate, name: str) -> float:
    own = finding(certificate, name)["value"]
    assert own is not None
    return own


def singles(path: Path, *, rows: int = 900, every: int = 4, score: bool = False) -> str:
    """Replies of which people pass 0.7; the judge passes 0.9 of these and 0.2 of the others."""
    rng, written = random.Random(2), []
    for place in range(rows):
        good = rng.random() < 0.7
        passes = rng.random() < (0.9 if good else 0.2)
        verdict = rng.randint(6, 9) if passes else rng.randint(1, 5)
        row: dict[str, object] = {"verdict": verdict if score else "pass" if passes else "fail"}
        written.append({**row, "label": "yes" if good else "no"} if place % every == 0 else row)
    return file_of(path, written)


def pairs(path: Path, *, count: int = 200, first: float = 0.2) -> str:
    """People prefer x in 0.6 of the pairs; the judge agrees, or always takes the first answer."""
    rng, written = random.Random(4), []
    for place in range(count):
        better, always = "x" if rng.random() < 0.6 else "y", rng.random() < first
        for order in ("xy", "yx"):
            row = {"pair": str(place), "first": order[0], "second": order[1]}
            letter = "A" if always or order[0] == better else "B"
            labelled = {"winner": better} if place % 2 and order == "xy" else {}
            written.append({**row, "verdict": letter, **labelled})
    return file_of(path, written)


@pytest.mark.parametrize(
    ("text", "read"),
    [("Pass", 1), ("no.", 0), (True, 1), ("false", 0), (0.25, 0.25), ("7", 7), ("So: [[8]]", 8)],
)
def test_a_verdict_on_one_answer_is_a_word_or_a_score(text: object, read: float) -> None:
    assert parse_verdict(text) == read


@pytest.mark.parametrize("text", [None, "", "I cannot say", "[[8]] or [[9]]", "nan", "inf"])
def test_anything_else_is_unread(text: object) -> None:
    assert parse_verdict(text) != parse_verdict(text)


@pytest.mark.parametrize("score", [False, True])
def test_a_planted_judge_of_single_answers(tmp_path: Path, score: bool) -> None:
    log = Path(singles(tmp_path / "log.jsonl", score=score))
    (certificate,) = certify_verdicts([str(log)])
    labelled = [row for row in map(json.loads, log.read_text(encoding="utf-8").splitlines()) if "label" in row]
    for name, label in (("true positive rate", "yes"), ("false positive rate", "no")):
        own = [row["verdict"] for row in labelled if row["label"] == label]
        counted = sum(one == "pass" or (score and one >= 6) for one in own) / len(own)
        assert value(certificate, name) == pytest.approx(counted, abs=0.1 if score else 1e-9)
    assert value(certificate, "agreement with people") == pytest.approx(0.87, abs=0.08)
    rate, alone = (finding(certificate, f"pass rate by people{end}") for end in ("", ", labels alone"))
    assert (rate["rows"], rate["labels"], alone["rows"]) == (900, 225, 225)
    assert rate["interval"] is not None
    assert alone["interval"] is not None
    assert rate["interval"][0] <= 0.7 <= rate["interval"][1]
    assert rate["interval"][1] - rate["interval"][0] < alone["interval"][1] - alone["interval"][0]
    assert rate["labels_alone"] > 250
    assert certificate["verdict"] == "shown"


@pytest.mark.parametrize(
    ("gate", "code", "words"), [(0.5, 0, "PASS"), (0.95, 1, "FAIL"), (0.72, 3, "decide whether it reaches 72 %")]
)
def test_a_gate_for_the_rate_decides_or_asks_for_labels(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], gate: float, code: int, words: str
) -> None:
    log = singles(tmp_path / "log.jsonl")
    assert main(["certify", log, "--gate-rate", str(gate), "--out", str(tmp_path / "out")]) == code
    assert words in " ".join(capsys.readouterr().out.split())
    page = (tmp_path / "out" / "certificate.html").read_text(encoding="utf-8")
    assert {0: "reaches the gate", 1: "misses the gate", 3: "undecided"}[code] in page


def test_without_a_gate_nothing_fails(tmp_path: Path) -> None:
    assert main(["certify", singles(tmp_path / "log.jsonl"), "--out", str(tmp_path / "out")]) == 0


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"verdict": "pass", "label": "maybe"}], r"row 1, column label: the label maybe; expected pass, fail"),
        ([{"verdict": 4, "label": 5}], r"row 1, column label: the label 5; expected pass, fail"),
        ([{"verdict": "pass", "label": 1}, {"verdict": 7}], r"row 2, column verdict: the verdicts pass and 7"),
        ([{"verdict": "Hm", "label": 1}], r"no verdict that can be read"),
        ([{"verdict": "pass", "label": ""}], r"no label that can be read"),
    ],
)
def test_a_mistake_in_single_answers_names_its_place(
    tmp_path: Path, rows: Sequence[Mapping[str, object]], message: str
) -> None:
    with pytest.raises(DataError, match=message):
        read_single_answers([file_of(tmp_path / "log.jsonl", rows)])


def test_labels_on_pairs_show_agreement_and_what_people_prefer(tmp_path: Path) -> None:
    (certificate,) = certify_verdicts([pairs(tmp_path / "log.jsonl")])
    assert value(certificate, "agreement with people") == pytest.approx(0.9, abs=0.05)
    assert value(certificate, "agreement with people in both orders") == pytest.approx(0.8, abs=0.1)
    preferred = finding(certificate, "people prefer x")
    assert preferred["interval"] is not None
    assert preferred["interval"][0] <= 0.6 <= preferred["interval"][1]
    assert (preferred["rows"], preferred["labels"]) == (200, 100)
    assert not any(one["name"] == "people prefer y" for one in certificate["findings"])


def test_several_writers_have_a_share(tmp_path: Path) -> None:
    others = [{**PAIR, "pair": str(place), "second": "yz"[place % 2], "label": "x"} for place in range(8)]
    (certificate,) = certify_verdicts([file_of(tmp_path / "log.jsonl", others)])
    names = [one["name"] for one in certificate["findings"] if one["name"].startswith("people prefer")]
    assert names == [f"people prefer {name}{end}" for name in "xyz" for end in ("", ", labels alone")]
    assert value(certificate, "people prefer z") == 0


@pytest.mark.parametrize(
    ("label", "read"),
    [("first", "x"), ("y", "y"), (2, "y"), ("model_a", "x"), ("tie (bothbad)", "tie"), ("", None), (None, None)],
)
def test_a_label_names_an_answer_or_its_place(tmp_path: Path, label: object, read: str | None) -> None:
    (row,) = read_verdicts([file_of(tmp_path / "log.jsonl", [{**PAIR, "label": label}])]).to_dict("records")
    assert row["label"] == read


def test_a_place_is_that_of_its_own_row_and_counts_for_both_orders(tmp_path: Path) -> None:
    swapped = {**PAIR, "first": "y", "second": "x"}
    verdicts = read_verdicts([file_of(tmp_path / "log.jsonl", [PAIR, {**swapped, "label": "second"}])])
    assert verdicts["label"].tolist() == ["x", "x"]


def test_0_is_a_tie_only_beside_2(tmp_path: Path) -> None:
    rows = [{**PAIR, "label": 0}, {**PAIR, "pair": "q2", "label": 2}]
    assert read_verdicts([file_of(tmp_path / "log.jsonl", rows)])["label"].tolist() == ["tie", "y"]
    with pytest.raises(DataError, match=r"row 1, column label: the label 0; expected x, y, first, second or tie"):
        read_verdicts([file_of(tmp_path / "log.jsonl", rows[:1])])


def test_two_labels_of_one_pair_are_refused(tmp_path: Path) -> None:
    swapped = {**PAIR, "first": "y", "second": "x", "label": "A"}
    with pytest.raises(DataError, match=r"pair q1: the labels x and y of one pair"):
        read_verdicts([file_of(tmp_path / "log.jsonl", [{**PAIR, "label": "A"}, swapped])])


def test_both_layouts_at_once(tmp_path: Path) -> None:
    logs = [singles(tmp_path / "one.jsonl"), pairs(tmp_path / "two.jsonl")]
    assert [certificate["judge"] for certificate in certify_verdicts(logs)] == ["one", "two"]
