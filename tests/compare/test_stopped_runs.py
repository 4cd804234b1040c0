"""Runs of which some stopped early: the cases that both were asked are described, and nothing is claimed of them."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from finished import TEST, rows_from, write_run
from rich.console import Console
from test_likeness import with_second_test

from contrapose.tasks.compare.compare import compare
from contrapose.tasks.compare.flips import find_flips
from contrapose.tasks.compare.rows import LEAST_SHARED
from contrapose.tasks.core.comparison import EXIT_CODES, Comparison, FlipCount
from contrapose.tasks.core.errors import ComparisonError
from contrapose.tasks.core.stopping import Stopping
from contrapose.tasks.report import comparison_markdown, comparison_page
from contrapose.tasks.report.console import print_comparison
from contrapose.tasks.report.notebook import render_comparison

STOPPED = Stopping(cases=100, judged=40, looks=2, shares=[0.2, 0.4], saved=99, beside=[])
GOOD, BAD = [True] * 95 + [False] * 5, [False] * 60 + [True] * 40


def written(folder: Path, passed: list[bool], *, cases: int = 0, **changes: Any) -> str:
    """A run; of so many cases, where it stopped early or at least might have."""
    if cases:
        changes["outcome"] = {"stopping": STOPPED | {"cases": cases, "judged": len(passed)}}
        changes["config"] = {"stop": "early"}
    return str(write_run(folder, rows_from(passed), model=folder.name, **changes))


@pytest.fixture
def stopped(tmp_path: Path) -> Comparison:
    """A good model that was asked all 100 cases, and a bad one whose run stopped after 40."""
    return compare([written(tmp_path / "good", GOOD), written(tmp_path / "bad", BAD[:40], cases=100)])


def test_a_difference_is_over_the_cases_that_both_were_asked_and_claims_nothing(stopped: Comparison) -> None:
    (pair,) = stopped["tests"][0]["pairs"]
    assert (pair["cases"], pair["only_first"], pair["only_second"], pair["neither"]) == (40, 0, 0, 0)
    nothing: Any = dict.fromkeys(("interval", "bounds", "p", "adjusted"))
    assert pair["difference"] == {**pair["difference"], **nothing, "value": -1}
    assert (pair["extremes"], pair["stopped"]) == ((-1, -1), ["bad"])
    assert (pair["verdict"], stopped["verdict"], EXIT_CODES[stopped["verdict"]]) == ("cannot tell", "cannot tell", 3)
    assert pair["reason"] == (
        "No verdict: bad stopped early, so its own result chose the 40 cases that both were asked. "
        "Run again with --stop all; only what is missing is asked."
    )
    standings = stopped["tests"][0]["standings"]
    assert [(each["rank"], each["rate"] and each["rate"]["interval"]) for each in standings] == [(1, None)] * 2
    assert find_flips(stopped).counts == {(TEST, "bad"): FlipCount(lost=40, gained=0)}


def test_it_is_said_how_many_each_was_asked_and_how_many_are_shared(stopped: Comparison) -> None:
    (warning,) = stopped["warnings"]
    assert warning == (
        "order_bias: good was asked 100 of 100 cases, bad 40 of 100 (stopped early); 40 are shared. If a run "
        "stopped early, only the shared cases are compared, without a verdict: its own result chose them."
    )


def test_every_page_says_it(stopped: Comparison) -> None:
    file = io.StringIO()
    print_comparison(stopped, console=Console(file=file, width=80))
    texts = (
        file.getvalue(),
        comparison_markdown.render(stopped).decode().replace("\\", ""),
        comparison_page.render(stopped, find_flips(stopped)).decode(),
        render_comparison(stopped, folder="x", show_toxic=False),
    )
    for text in texts:
        assert "bad 40 of 100 (stopped early); 40 are shared" in " ".join(text.split())
        assert "No verdict: bad stopped early" in " ".join(text.split())


@pytest.mark.parametrize("cases", [100, 0])
def test_where_neither_stopped_early_nothing_changes(tmp_path: Path, cases: int) -> None:
    """A claim that is made only where neither stopped is made no more often than if none had been to stop."""
    names = [written(tmp_path / name, passed, cases=cases) for name, passed in (("good", GOOD), ("bad", BAD))]
    comparison = compare(names)
    assert comparison["verdict"] == "worse"
    assert "stopped" not in comparison["tests"][0]["pairs"][0]
    assert comparison["warnings"] == []


def test_two_that_stopped_at_the_same_case_claim_nothing_either(tmp_path: Path) -> None:
    names = [written(tmp_path / name, each[:40], cases=100) for name, each in (("good", GOOD), ("bad", BAD))]
    (pair,) = compare(names)["tests"][0]["pairs"]
    assert (pair["verdict"], pair["stopped"]) == ("cannot tell", ["bad", "good"])
    assert pair["reason"].startswith("No verdict: bad and good stopped early, so their own results chose ")


def test_other_pairs_are_compared_over_all_cases_with_as_many_pairs_as_there_are(tmp_path: Path) -> None:
    whole = [written(tmp_path / name, passed) for name, passed in (("good", GOOD), ("bad", BAD))]
    three = compare([*whole, written(tmp_path / "early", BAD[:40], cases=100)])
    pairs = {pair["first"]: pair for pair in three["tests"][0]["pairs"] if pair["verdict"]}
    assert (pairs["bad"]["cases"], pairs["bad"]["verdict"], pairs["early"]["verdict"]) == (100, "worse", "cannot tell")
    difference = pairs["bad"]["difference"]
    assert difference["p"] is not None
    # Which pairs may claim hangs on results: those that may not count as pairs all the same.
    assert difference["adjusted"] == pytest.approx(3 * difference["p"])


def test_a_test_of_which_too_few_are_shared_is_left_out_alone(tmp_path: Path) -> None:
    stopping = STOPPED | {"cases": LEAST_SHARED, "judged": LEAST_SHARED - 1}
    one = with_second_test(Path(written(tmp_path / "one", GOOD)), rows_from([True] * LEAST_SHARED))
    two = with_second_test(Path(written(tmp_path / "two", GOOD)), rows_from([True] * (LEAST_SHARED - 1)))
    file = Path(two) / "summary.json"
    summary = json.loads(file.read_text())
    summary["tests"][1]["stopping"] = stopping
    file.write_text(json.dumps(summary))
    comparison = compare([one, two])
    assert [test["test_type"] for test in comparison["tests"]] == [TEST]
    (warning,) = comparison["warnings"]
    assert warning.startswith("option_order is not compared: 29 cases were asked in all runs, since two stopped early")
    assert "--stop all" in warning


def test_where_no_test_has_enough_the_comparison_is_refused(tmp_path: Path) -> None:
    names = [written(tmp_path / "one", GOOD), written(tmp_path / "two", GOOD[:8], cases=100)]
    with pytest.raises(ComparisonError, match="8 cases were asked in all runs, since two stopped early"):
        compare(names)


def test_a_sample_in_which_a_case_lacks_is_refused_still(tmp_path: Path) -> None:
    """An early stop leaves out whole samples; a case less of one that was asked is another test."""
    rows = [
        {**row, "case_id": f"{TEST}/s{number // 2}/{number % 2}", "sample_id": f"s{number // 2}"}
        for number, row in enumerate(rows_from(GOOD))
    ]
    one = write_run(tmp_path / "one", rows, model="one")
    two = write_run(tmp_path / "two", rows[:41], model="two", outcome={"stopping": STOPPED | {"judged": 41}})
    with pytest.raises(ComparisonError, match=r"case 'order_bias/s20/1' is in one and not in two"):
        compare([str(one), str(two)])


def beside(folder: Path, passed: list[bool], *, group: str = "a b") -> str:
    stopping = STOPPED | {"judged": len(passed), "beside": group.split()}
    return str(write_run(folder, rows_from(passed), model=folder.name, outcome={"stopping": stopping}))


def test_models_that_were_stopped_together_are_compared_with_all_looks_counted(tmp_path: Path) -> None:
    comparison = compare([beside(tmp_path / "good", GOOD[:40]), beside(tmp_path / "bad", BAD[:40])])
    (pair,) = comparison["tests"][0]["pairs"]
    assert (pair["verdict"], "stopped" in pair) == ("worse", False)
    mixed = [GOOD[:40], [True] * 34 + [False] * 6]
    once = compare([written(tmp_path / f"once{number}", own) for number, own in enumerate(mixed)])
    twice = compare([beside(tmp_path / f"twice{number}", own) for number, own in enumerate(mixed)])
    (one,), (two,) = (each["tests"][0]["pairs"] for each in (once, twice))
    assert (one["difference"]["p"] or 1) < (two["difference"]["p"] or 1)
    assert two["difference"]["value"] == one["difference"]["value"]
    (warning,) = twice["warnings"]
    assert warning == (
        "order_bias: the models were asked side by side, stopped together after 40 of 100 cases. "
        "Differences, intervals and p values account for 2 looks."
    )


def test_two_that_were_stopped_with_others_were_not_stopped_together(tmp_path: Path) -> None:
    names = [beside(tmp_path / name, GOOD[:40], group=group) for name, group in (("one", "a b"), ("two", "c d"))]
    assert compare(names)["tests"][0]["pairs"][0]["verdict"] == "cannot tell"
