"""The gates: sound tables pass, each corruption is caught by its expectation, and the evidence is kept."""

from __future__ import annotations

import gc
import json
import re
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from types import SimpleNamespace

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from corruptions import CORRUPTIONS, Corruption, setting
from sound import every_plan, sound

from contrapose.flows.cli.validate import check_table
from contrapose.flows.steps import require_valid
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core.errors import GateError
from contrapose.tasks.core.validation import KINDS, Checked, Finding, Kind, blocking_findings
from contrapose.tasks.report.validation import make_gate_error
from contrapose.tasks.validate import expectations, gates
from contrapose.tasks.validate.expectations import get_suite_once, run_checks
from contrapose.tasks.validate.gates import sift
from contrapose.tasks.validate.suites import list_named_columns

ID = "20260101T000000Z-quickstart-mock"


# Each takes half a second: every fourth is enough between two releases.
SOME_SLOW = [
    pytest.param(each, id=each.name, marks=() if place % 4 == 0 else pytest.mark.slow)
    for place, each in enumerate(CORRUPTIONS)
]


def about(finding: Finding) -> str:
    return ", ".join(list_named_columns(dict(finding))) or finding["type"]


def refuse(*checked: Checked) -> GateError:
    """The error of a run whose gate finds this; its output is the folder `runs`."""
    config = RunConfig(model="mock", output="runs")
    run = SimpleNamespace(config=config, id=ID, started=datetime(2026, 1, 1, tzinfo=UTC))
    with pytest.raises(GateError) as caught:
        require_valid(run, list(checked))  # type: ignore[arg-type]
    return caught.value


FAST = ("add_negation", "add_toxic_words", "order_bias", "option_order")
EVERY = [
    pytest.param(plan.test, marks=() if plan.test in FAST else pytest.mark.slow, id=plan.test) for plan in every_plan()
]


@pytest.mark.parametrize("test", EVERY)
def test_sound_tables_of_every_test_hold(test: str) -> None:
    for kind in KINDS:
        sifted = sound(test).sifted(kind)
        assert [finding["what"] for finding in sifted.findings if not finding["holds"]] == []


@pytest.mark.parametrize("test", ["add_negation", "order_bias", "option_order"])
def test_sound_tables_of_a_model_without_likelihoods_hold(test: str) -> None:
    for kind in ("completions", "results"):
        sifted = sound(test, likelihoods="none").sifted(kind)  # type: ignore[arg-type]
        assert [finding["what"] for finding in sifted.findings if not finding["holds"]] == []


def test_there_are_enough_corruptions_of_every_table() -> None:
    assert len({each.name for each in CORRUPTIONS}) == len(CORRUPTIONS) >= 25
    assert {each.kind for each in CORRUPTIONS} == set(KINDS)


@pytest.mark.usefixtures("in_tmp")
@pytest.mark.parametrize("case", SOME_SLOW)
def test_a_corruption_is_caught_by_its_expectation_and_leaves_its_evidence(case: Corruption) -> None:
    checked = sound(case.test).corrupted(case.kind, case.corrupt).checked(case.kind)
    broken = [finding for finding in checked["findings"] if not finding["holds"]]
    assert case.caught_by in [about(finding) for finding in broken]
    error = refuse(checked)
    assert f"{case.test} {case.kind}" in str(error)
    assert [path.name for path in Path("runs").iterdir()] == [f"{ID}-refused"]
    kept = Path("runs") / f"{ID}-refused"
    assert str(kept) in str(error)
    told = json.loads((kept / "validation.json").read_text())
    assert not told["sound"]
    assert case.caught_by in [about(finding) for finding in told["tables"][0]["findings"] if not finding["holds"]]
    rows = kept / f"{case.test}-{case.kind}.parquet"
    if any(finding["broken"] for finding in broken):
        assert case.caught_by in "; ".join(pq.read_table(rows)["broken"].to_pylist()) or not named(broken, case)
        assert len(pd.read_csv(rows.with_suffix(".csv"))) == pq.read_table(rows).num_rows
    else:
        assert not rows.exists()


def named(broken: list[Finding], case: Corruption) -> bool:
    """Whether the expectation that catches a corruption is about rows."""
    return any(finding["broken"] for finding in broken if about(finding) == case.caught_by)


@pytest.mark.usefixtures("in_tmp")
def test_an_error_names_row_column_and_value_and_the_evidence_holds_the_row_without_a_formula() -> None:
    checked = sound("order_bias").corrupted("results", setting(eval_score=1.5, reason="=1+1")).checked("results")
    key = sound("order_bias").results[1]["case_id"]
    error = str(refuse(checked))
    assert f"The score of a choice by likelihood is 0 or 1 (eval_score): broken by {key} [eval_score 1.5" in error
    assert "expected results that meet results.yaml" in error
    rows = Path("runs") / f"{ID}-refused" / "order_bias-results.parquet"
    kept = [(row["row"], row["case_id"], row["eval_score"]) for row in pq.read_table(rows).to_pylist()]
    assert kept == [(2, key, 1.5)]
    assert "'=1+1" in rows.with_suffix(".csv").read_text()


@pytest.mark.usefixtures("in_tmp")
def test_what_was_lost_is_named_in_the_evidence() -> None:
    whole = sound("order_bias")
    checked = whole.corrupted("results", lambda rows: rows[:-1]).checked("results")
    assert checked["broken"] is not None
    refuse(checked)
    kept = pq.read_table(Path("runs") / f"{ID}-refused" / "order_bias-results.parquet").to_pylist()
    assert [(row["row"], row["broken"], row["case_id"]) for row in kept] == [
        (None, "left_out", whole.results[-1]["case_id"])
    ]


def test_a_missing_column_and_a_wrong_type_are_refused() -> None:
    whole = sound("add_toxic_words")
    table, given = whole.table("results"), whole.handed("results")
    place = table.schema.get_field_index("pass")
    text = table.set_column(place, "pass", pa.array(["True"] * table.num_rows))
    for bad, told in ((table.drop_columns(["pass"]), "column pass is missing"), (text, "column pass is string")):
        (finding,) = sift("results", [bad], whole.plan, handed=given).findings
        assert not finding["holds"]
        assert told in finding["observed"]


@pytest.mark.parametrize("kind", KINDS)
def test_parts_are_told_as_one_table(kind: Kind) -> None:
    whole = sound("order_bias").corrupted(kind, setting(**BROKEN[kind]))
    assert whole.sifted(kind, part=9) == whole.sifted(kind)


BROKEN = {
    "samples": {"id": None},
    "cases": {"asks": "guess", "sample_id": "elsewhere"},
    "completions": {"actual": sound("order_bias").completions[0].actual},
    "results": {"case_id": "elsewhere", "eval_score": 3.0},
}


@pytest.mark.parametrize("kind", ["samples", "cases"])
def test_tables_that_no_run_has_made_are_refused_too(kind: Kind) -> None:
    good, bad = (
        check_table(kind, [whole.table(kind)], whole.plan, handed=whole.handed(kind), own=())
        for whole in (sound("order_bias"), sound("order_bias").corrupted(kind, setting(**BROKEN[kind])))
    )
    assert re.match(rf"order_bias {kind}: .*broken by", str(make_gate_error([good, bad])))
    assert blocking_findings(bad)
    assert not blocking_findings(good)


def test_threads_that_share_a_suite_look_at_their_own_rows() -> None:
    expectation = {
        "type": "expect_column_values_to_be_between",
        "kwargs": {
            "column": "eval_score",
            "min_value": 0,
            "max_value": 1,
            "row_condition": {
                "type": "comparison",
                "column": {"name": "scorer"},
                "operator": "==",
                "parameter": "reply",
            },
        },
    }
    suite = get_suite_once(json.dumps([expectation]))

    def broken_of(rows: int) -> tuple[str, list[int]]:
        """A table of so many rows in which the last one is wrong."""
        frame = pd.DataFrame(
            {
                "scorer": ["reply"] * rows,
                "eval_score": [1.0] * (rows - 1) + [7.0],
                "row": range(1, rows + 1),
            }
        )
        (seen,) = run_checks(suite, frame, parameters={})
        return seen.error, list(seen.broken)

    lengths = list(range(2, 18))
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(broken_of, lengths)) == [("", [rows]) for rows in lengths]


def test_the_library_is_left_as_it_was() -> None:
    suite = get_suite_once(json.dumps([{"type": "expect_column_values_to_be_unique", "kwargs": {"column": "id"}}]))
    from great_expectations.expectations.expectation import Expectation

    own, frame = Expectation.configuration, pd.DataFrame({"id": ["a", "a"], "row": [1, 2]})
    (seen,) = run_checks(suite, frame, parameters={})
    assert (seen.holds, seen.broken) == (False, [1, 2])
    assert Expectation.configuration is own
    with pytest.raises(TypeError):
        run_checks(suite, None, parameters={})  # type: ignore[arg-type]
    assert Expectation.configuration is own


@pytest.mark.usefixtures("nothing_left_behind")
def test_copies_of_large_tables_are_let_go_though_garbage_is_not_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gates, "LARGE", 1)

    def left_over(place: int) -> int:
        """Frames and columns that are still there once the same cases were looked at anew."""
        monkeypatch.setenv("CONTRAPOSE_HOME", str(tmp_path / str(place)))
        assert all(finding["holds"] for finding in sound("order_bias").sifted("cases").findings)
        return sum(type(each) in (pd.DataFrame, pd.Series) for each in gc.get_objects())

    gc.collect()
    gc.disable()
    try:
        counts = [left_over(place) for place in range(4)]
    finally:
        gc.enable()
    assert counts[1] == counts[-1]


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[int]:
    """How many rows the library was asked about, each time that it was."""
    monkeypatch.setenv("CONTRAPOSE_HOME", str(tmp_path / "home"))
    counts: list[int] = []

    def counting(suite: object, frame: pd.DataFrame, **others: object) -> object:
        counts.append(len(frame))
        return run_checks(suite, frame, **others)  # type: ignore[arg-type]

    monkeypatch.setattr(expectations, "run_checks", counting)
    return counts


def test_a_table_that_was_sound_is_not_looked_at_again(looks: list[int]) -> None:
    first = sound("add_negation").sifted("cases")
    asked = len(looks)
    assert asked
    assert sound("add_negation").sifted("cases") == first
    assert len(looks) == asked


@pytest.mark.parametrize("case", [CORRUPTIONS[0]])
def test_a_table_that_is_broken_is_looked_at_each_time(looks: list[int], case: Corruption) -> None:
    sound(case.test).sifted(case.kind)
    corrupt = sound(case.test).corrupted(case.kind, case.corrupt)
    for _ in range(2):
        before = len(looks)
        findings = corrupt.checked(case.kind)["findings"]
        assert case.caught_by in [about(finding) for finding in findings if not finding["holds"]]
        assert len(looks) > before


def test_other_expectations_are_looked_at(looks: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    sound("add_negation").sifted("cases")
    before = len(looks)
    monkeypatch.setattr(expectations, "KEPT", expectations.KEPT + 1)
    sound("add_negation").sifted("cases")
    assert len(looks) == 2 * before


def test_a_damaged_memory_is_no_verdict(looks: list[int], tmp_path: Path) -> None:
    sound("add_negation").sifted("cases")
    before, kept = len(looks), tmp_path / "home" / "checked.json"
    kept.write_text(kept.read_text().replace('"broken": []', '"broken": 3').replace('"holds": true', '"holds": 1'))
    sound("add_negation").sifted("cases")
    assert len(looks) == 2 * before


def test_library_is_imported_ahead_in_a_thread_and_its_failure_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    called = Event()

    def fail() -> None:
        called.set()
        raise ImportError("broken")

    monkeypatch.setattr(expectations, "import_library", fail)
    expectations.import_in_background()
    assert called.wait(60)
