"""Recordings of the documents' rows, complete and partial: a verdict or one clear sentence, never a circle."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from newest_run import newest, summary_of, write_rows
from plain_broker import PlainBroker
from test_worked_examples import CACTUS, EGGS, PAIR, TOTAL, VALKYRIA

from contrapose.flows.cli import main
from contrapose.flows.cli.preview import load_previews
from contrapose.flows.orchestration.options import resolve_suite, select_tests
from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.core.registry import PROBES, names
from contrapose.tasks.infer.ask import list_questions
from contrapose.tasks.infer.recorded import RecordedReplies

pytestmark = pytest.mark.usefixtures("prefect_server", "own_store", "in_tmp")

QUESTIONS = [{"id": one.id, "text": one.text, "options": list(one.options)} for one in (CACTUS, EGGS)]
TEXTS = [
    {"id": "total", "text": "Total 10247."},
    {"id": "valkyria", "text": "Unlike its two predecessors Valkyria Chronicles III was not released in the west."},
]
PAIRS = [
    {name: getattr(PAIR, name) for name in ("id", "article_sentence", "correct_sentence", "incorrect_sentence")},
    {
        "id": "points",
        "article_sentence": "louis van gaal said that he believed wenger's estimation of the necessary points total.",
        "correct_sentence": "louis van gaal says he believed wenger's estimation of the necessary points.",
        "incorrect_sentence": "louis van gaal says wenger's estimation of the necessary points total.",
    },
]
DATA = {"add_negation": QUESTIONS, "add_toxic_words": TEXTS, "order_bias": PAIRS}
CATEGORIES = {"add_negation": "sensitivity", "add_toxic_words": "sensitivity", "order_bias": "factuality"}
REPLIES = [
    ("add_negation", "cactus", "B. liquid", "C. food"),
    ("add_negation", "eggs", "C. carbon", "C. carbon"),
    ("add_toxic_words", "total", *TOTAL),
    ("add_toxic_words", "valkyria", *VALKYRIA),
    ("order_bias", "radio-rental", "A", "B"),
    ("order_bias", "points", "A", "A"),
]


@pytest.fixture
def suite(in_tmp: None) -> str:
    """The three tests of the documents on their own rows, with default settings."""
    tests: dict[str, dict[str, Any]] = {category: {} for category in CATEGORIES.values()}
    for test, rows in DATA.items():
        write_rows(f"{test}.jsonl", rows)
        tests[CATEGORIES[test]][test] = {"data": f"{test}.jsonl"}
    Path("documents.yaml").write_text(yaml.safe_dump({"suite": "documents", "tests": tests}))
    return "documents.yaml"


def recording(replies: Sequence[tuple[str, str, str | None, str | None]] = REPLIES, name: str = "replies.csv") -> str:
    """A table with the columns test, id, original and perturbed."""
    frame = pd.DataFrame(replies, columns=["test", "id", "original", "perturbed"])
    if name.endswith("csv"):
        frame.to_csv(name, index=False)
    else:
        frame.to_json(name, orient="records", lines=True)
    return name


def run_of(*arguments: str) -> tuple[pd.DataFrame, dict[str, Any]]:
    """The results by sample, and the summary, of a command that ends with a verdict."""
    assert main([*arguments, "--out", "out"]) in {0, 1, 3}
    return pd.read_parquet(newest(file="results.parquet")).set_index("sample_id"), summary_of()


@pytest.mark.slow
@pytest.mark.parametrize("command", [["run", "--recorded", "replies.csv"], ["run", "--model", "recorded/replies.csv"]])
def test_every_row_of_the_documents_comes_out_as_printed(command: list[str], suite: str) -> None:
    recording()
    rows, summary = run_of(*command, "--suite", suite)
    passed = {"cactus", "radio-rental"}
    assert dict(rows["pass"]) == {
        name: name in passed for name in ("cactus", "eggs", "total", "valkyria", "radio-rental", "points")
    }
    # 0.4208 came from an embedding model that is not here; what the choices say passes too.
    scores = {"eggs": 0.0, "total": 2.0, "valkyria": 16.0, "radio-rental": 1.0, "points": 0.0}
    assert rows["eval_score"].drop("cactus").to_dict() == scores
    assert list(rows.loc[["eggs", "cactus"], "test_case"]) == [
        "When the eggs hatch, the offspring are not",
        "A cactus stem is not used to store",
    ]
    assert rows.loc["eggs", "expected_result"] == rows.loc["eggs", "actual_result"] == "C. carbon"
    assert rows.loc["points", ["result", "swapped_result"]].tolist() == ["A", "A"]
    warnings = " ".join(summary["warnings"])
    assert "add_negation: controls: 2 not recorded, so no rate that rests on them is judged" in warnings
    assert "on trust" in warnings


@pytest.mark.parametrize(("name", "option"), [("replies.csv", "--recorded"), ("replies.jsonl", "--model")])
def test_rows_and_replies_that_are_missing_are_left_out_and_counted(name: str, option: str, suite: str) -> None:
    replies = [REPLIES[0], ("add_negation", "eggs", "C. carbon", None), *REPLIES[2:4]]
    recording(replies, name)
    rows, summary = run_of("run", option, name if option == "--recorded" else f"recorded/{name}", "--suite", suite)
    assert set(rows.index) == {"cactus", "total", "valkyria"}
    outcomes = {outcome["test_type"]: outcome for outcome in summary["tests"]}
    assert outcomes["add_negation"]["skip_reasons"] == {"not_recorded": 1}
    assert outcomes["add_negation"]["verdict"] == "inconclusive"
    assert ("order_bias" in outcomes) == (option == "--model")
    if option == "--model":
        assert outcomes["order_bias"]["skip_reasons"] == {"not_recorded": 2}
        assert outcomes["order_bias"]["reason"].startswith("0 of 2 cases could be asked: 2 ")


def test_a_gate_that_guessing_reaches_is_no_refusal_and_no_pass(suite: str, capsys: pytest.CaptureFixture[str]) -> None:
    gate = ["--set", "tests.sensitivity.add_negation.min_pass_rate=0.1"]
    _, summary = run_of("run", "--recorded", recording(REPLIES[:1]), "--suite", suite, *gate)
    assert summary["tests"][0]["verdict"] != "pass"
    assert "Random guessing reaches a pass rate of 75%" in " ".join(capsys.readouterr().out.split())


def test_tests_that_cannot_read_the_data_are_left_out(suite: str, capsys: pytest.CaptureFixture[str]) -> None:
    rows, _ = run_of("run", "--recorded", recording(REPLIES[:2]), "--data", "add_negation.jsonl")
    assert set(rows["test_type"]) == {"add_negation"}
    assert "order_bias: skipped, because add_negation.jsonl: there is no column" in capsys.readouterr().err


def test_results_of_an_earlier_run_are_a_recording(suite: str) -> None:
    first, _ = run_of("run", "--recorded", recording(), "--suite", suite)
    earlier = next(Path("out").glob("[!.]*/results.csv"))
    again, _ = run_of("run", "--recorded", str(earlier), "--suite", suite)
    pd.testing.assert_frame_equal(again.drop(columns="model"), first.drop(columns="model"))


@pytest.mark.parametrize("name", ["replies.csv", "replies.jsonl"])
@pytest.mark.parametrize("test", sorted({*PROBES} - {"judge_cues"}))
def test_id_original_and_perturbed_suffice_for_every_test(test: str, name: str) -> None:
    """The first case of each sample that can be changed has the two replies of its row; each cue has its own texts."""
    spec = ModelSpec(id=f"recorded/{name}")
    config, _ = resolve_suite(None, {"model": spec.id, "limit": 80})
    [preview] = load_previews(select_tests(config, [test]))
    rows = [{"id": one.id, "original": f"{one.id} A", "perturbed": f"{one.id} B"} for one in preview.loaded.samples]
    if name.endswith("csv"):
        pd.DataFrame(rows).to_csv(name, index=False)
    else:
        write_rows(name, rows)
    provider = RecordedReplies()
    assert not provider.remarks(spec, [test])[1:]
    by_sample = [list(provider.replied(spec, cases)) for cases in preview.cases()]
    firsts = [cases[0] for cases in by_sample if cases[0].skip_reason is None]
    assert firsts
    assert {case.skip_reason for cases in by_sample for case in cases} <= {None, "not_recorded", *preview.skips}
    model, broker = provider.open(spec), PlainBroker()
    model.expect(firsts)
    model.answer(list_questions(firsts), broker)
    for case in firsts:
        replies = [broker.answers[question].completion.text for question in list_questions([case])]
        assert replies == [f"{case.sample_id} A", f"{case.sample_id} B"]


@pytest.mark.parametrize("test", names("probes"))
def test_ids_of_cases_find_every_case_and_control(test: str) -> None:
    config, _ = resolve_suite(
        None, {"model": "recorded/replies.jsonl", "limit": 80, "noise": 0, "tests.defaults.control": True}
    )
    [preview] = load_previews(select_tests(config, [test]))
    cases = [case for own in preview.cases() for case in own]
    write_rows("replies.jsonl", [{"id": case.id, "original": "A", "perturbed": "B"} for case in cases])
    assert list(RecordedReplies().replied(config.model_spec(), cases)) == cases
    kept = [case for case in cases if not case.control and not case.id.endswith("/2")]
    write_rows("replies.jsonl", [{"id": case.id, "original": "A", "perturbed": "B"} for case in kept])
    left = list(RecordedReplies().replied(config.model_spec(), cases))
    assert [case.id for case in left] == [case.id for case in cases if not case.control]
    assert {case.id for case in left if case.skip_reason == "not_recorded"} == {
        case.id for case in cases if case.id.endswith("/2") and case.skip_reason is None
    }


def test_controls_that_are_there_in_part_are_judged_in_part(suite: str) -> None:
    replies = [*REPLIES[:2], ("add_negation", "add_negation/cactus/control", None, "B. liquid")]
    rows, summary = run_of("run", "--recorded", recording(replies), "--suite", suite)
    assert list(rows.loc["cactus", "control"]) == [False, True]
    gates = [gate["name"] for gate in summary["tests"][0]["gates"]]
    assert gates == ["pass_rate", "contrast_rate", "steady_rate"][: len(gates)]
    assert "contrast_rate" in gates
    assert "add_negation: controls: 1 not recorded, the others count." in summary["warnings"]


SENTENCES: dict[str, tuple[list[tuple[str, str, str | None, str | None]], str]] = {
    "only originals": (
        [(test, id_, before, None) for test, id_, before, _ in REPLIES],
        "no case has recorded replies to both prompts: add_negation/cactus; add_negation/eggs; ",
    ),
    "other ids": (
        [(test, f"x{id_}", before, after) for test, id_, before, after in REPLIES],
        "contrapose preview --json",
    ),
    "no test named": (
        [("", id_, before, after) for _, id_, before, after in REPLIES],
        "Name the test, such as --test add_negation, or add a column test",
    ),
}


@pytest.mark.parametrize("kind", SENTENCES)
@pytest.mark.parametrize("command", [["run", "--recorded", "replies.csv"], ["run", "--model", "recorded/replies.csv"]])
def test_what_cannot_be_judged_is_said_in_one_line(
    kind: str, command: list[str], suite: str, capsys: pytest.CaptureFixture[str]
) -> None:
    replies, said = SENTENCES[kind]
    recording(replies)
    assert main([*command, "--suite", suite, "--quiet"]) == 2
    shown = [line for line in capsys.readouterr().err.splitlines() if line.startswith("contrapose:")]
    assert len(shown) == 1
    assert said in shown[0]


def test_errors_that_were_recorded_are_no_reason_to_resume(suite: str, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        {"id": row["id"], "original": "A", "perturbed": "B", "error": "away" if number else None}
        for number, row in enumerate(PAIRS)
    ]
    chosen = ["--suite", suite, "--test", "order_bias", "--out", "out"]
    command = ["run", "--recorded", write_rows("r.jsonl", rows), *chosen]
    assert main(command) == 4
    assert "Next: record the missing replies" in " ".join(capsys.readouterr().out.split())
    assert main([*command, "--set", "max_error_share=1"]) == 3
