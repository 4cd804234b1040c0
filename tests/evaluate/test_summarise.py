"""The parts of an outcome, each counted by itself from a few rows."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import date
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from embedders import embed_apart

from contrapose.tasks.core.outcome import Outcome
from contrapose.tasks.core.records import Completion, Score
from contrapose.tasks.core.registry import probe
from contrapose.tasks.evaluate.gate import Rules
from contrapose.tasks.evaluate.gated_rates import make_counts
from contrapose.tasks.evaluate.scoring import score_trials, yield_follow_ups
from contrapose.tasks.evaluate.summarise import (
    MOST_REASONS,
    compute_pass_share,
    count_langtest,
    count_noise,
    count_unscored,
    list_reader_errors,
    measure_results,
    summarise,
)
from contrapose.tasks.evaluate.task import judge, read_scored, read_skipped_cases
from contrapose.tasks.probes.base import Probe, unscored_score
from contrapose.tasks.statistics.shares import make_independent, wilson
from contrapose.tasks.tables.results import make_result_schema, make_result_table
from contrapose.tasks.tables.table import write_arrow
from tests.evaluate.test_scoring import DATA, no_embeddings, plan_of, trials_of

NO_TIME = pd.DataFrame({"sample_id": ["x", "y", "z"], "skip_reason": ["empty", "equal_sentences", "empty"]})


def rows(*passing: object, **columns: Any) -> pd.DataFrame:
    """A row for each of these values of `pass`."""
    many = len(passing)
    usual = {"sample_id": [f"s{n}" for n in range(many)], "cluster": None, "error": None, "undecided": False}
    usual |= {"control_kind": None}
    return pd.DataFrame({"pass": pd.Series(passing, dtype=object), **usual, **columns})


def test_what_became_of_the_cases_is_counted() -> None:
    found = make_counts(rows(True, False, None, True, True, error=[None, None, None, "it broke", None]))
    assert (found.asked, found.scored, found.passed, found.errors, found.unscored) == (5, 3, 2, 1, 1)


def test_an_undecided_case_is_neither_passed_nor_failed() -> None:
    results = rows(True, False, True, undecided=[False, True, True])
    assert (make_counts(results).scored, make_counts(results).passed) == (1, 1)
    assert compute_pass_share(results) == make_independent(1, 1)


def test_of_nothing_that_was_scored_there_is_no_share() -> None:
    assert compute_pass_share(rows(None, None)) is None
    found = count_noise(rows(None, None))
    assert (found["cases"], found["scored"], found["noise"], found["interval"]) == (2, 0, None, None)


def test_noise_is_what_did_not_pass_with_the_interval_of_that() -> None:
    found = count_noise(rows(*[True] * 17, *[False] * 3, None, error=[None] * 21))
    assert (found["cases"], found["scored"], found["changed"], found["unscored"], found["errors"]) == (21, 20, 3, 1, 0)
    assert found["noise"] == 0.15
    assert found["interval"] == pytest.approx(wilson(make_independent(3, 20)))


def test_what_langtest_says_is_told_over_the_rows_that_both_judge() -> None:
    both = rows(True, False, None, True, False, langtest_pass=[True, True, True, None, False])
    found = count_langtest(both)
    assert (found["judged"], found["passed"], found["agreed"]) == (3, 2, 2)


def test_where_langtest_says_nothing_nothing_is_told() -> None:
    assert count_langtest(rows(True)) is None
    assert count_langtest(rows(True, None, langtest_pass=[None, True])) is None


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, None])
def test_a_figure_that_is_no_number_is_none(value: float | None) -> None:
    chosen = SimpleNamespace(
        measures=lambda _: (),
        summarise=lambda _: {"x": value, "y": 0, "z": 1.5},
        reader_errors=(),
        position_lean=lambda _: None,
    )
    assert measure_results(rows(True, control=False), chosen, scored=1)["figures"] == {"x": None, "y": 0, "z": 1.5}  # type: ignore[arg-type]


def test_a_reason_called_other_is_counted_with_the_rare_ones() -> None:
    common = [f"r{number}" for number in range(MOST_REASONS - 1) for _ in range(3)]
    reasons = [*common, *["other"] * 2, "rare", "odd"]
    found = count_unscored(rows(*[None] * len(reasons), reason=reasons))
    assert (len(found), found["other"], sum(found.values())) == (MOST_REASONS, 4, len(reasons))


def test_exactly_as_many_reasons_as_are_told_have_no_others() -> None:
    found = count_unscored(rows(*[None] * MOST_REASONS, reason=[f"r{n}" for n in range(MOST_REASONS)]))
    assert found == {f"r{n}": 1 for n in range(MOST_REASONS)}


@pytest.mark.parametrize(
    ("found", "reasons"),
    [
        ([(True, None, "fine"), (None, "timeout", "no answer"), (None, None, "it is empty")], {"it is empty": 1}),
        ([(None, None, "a"), (None, None, "b"), (None, None, "b")], {"b": 2, "a": 1}),
        ([(None, None, None)], {"no reason given": 1}),
        ([(False, None, "too far")], {}),
        ([], {}),
    ],
)
def test_answered_cases_without_a_score_tell_why_the_commonest_reason_first(
    found: list[tuple[object, object, str | None]], reasons: dict[str, int]
) -> None:
    cases = pd.DataFrame(found, columns=["pass", "error", "reason"], dtype=object)
    assert list(count_unscored(cases).items()) == list(reasons.items())


def test_a_stored_test_tells_why_its_cases_have_no_score(in_tmp: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTRAPOSE_STORAGE", "tables")
    chosen, plan = probe("add_toxic_words"), plan_of("add_toxic_words")
    passed = Score(value=0.0, passed=True, reason="none")
    scores = [passed, unscored_score("it is empty"), passed]
    table = make_result_table(trials_of("add_toxic_words", 3), scores, probe=chosen, model="mock")
    results = write_arrow([table], make_result_schema(chosen))
    names = ("sample_id", "skip_reason", "original")
    schema = pa.schema([*((name, pa.string()) for name in names), ("control", pa.bool_())])
    left_out = pa.table({"sample_id": ["s"], "skip_reason": ["empty"], "original": [""], "control": [False]})
    cases = write_arrow([left_out], schema)
    rules = Rules(min_pass_rate=0.65, max_error_share=0.02, gate="rate")
    found = judge.fn(plan=plan, cases=cases, results=results, data=DATA, rules=rules)["outcome"]  # type: ignore[arg-type]
    assert (found["unscored"], found["unscored_reasons"]) == (1, {"it is empty": 1})


def test_the_readers_error_is_told_by_letter_where_rules_read_something() -> None:
    letters = [SimpleNamespace(letter=each, replies=10, missed=n, misread=0) for n, each in enumerate("AB")]
    known = SimpleNamespace(
        source="a paper", date=date(2026, 1, 1), by_letter=letters, by="the rules", steps=("pattern", "letter")
    )
    chosen = SimpleNamespace(reader_errors=[known])
    found = list(list_reader_errors(chosen, {"read_by_pattern": 0.5}))  # type: ignore[arg-type]
    assert [(each["source"], each["letter"], each["replies"], each["missed"]) for each in found] == [
        ("a paper", "A", 10, 0),
        ("a paper", "B", 10, 1),
    ]
    assert list(list_reader_errors(chosen, {"read_by_embedding": 1.0, "read_by_letter": 0})) == []  # type: ignore[arg-type]


def summary(test: str, *, skipped: pd.DataFrame = NO_TIME, **changes: Any) -> Outcome:
    """The outcome of ten mocked trials, with columns of their rows changed."""
    results = score_trials(trials_of(test), plan_of(test), model="mock", embed=no_embeddings).to_pandas()
    rules = Rules(min_pass_rate=0.65, max_error_share=0.02, gate="interval")
    return summarise(results.assign(**changes), skipped, plan_of(test), data=DATA, rules=rules)  # type: ignore[arg-type]


def test_skipped_cases_are_counted_by_reason_and_faulty_rows_named() -> None:
    found = summary("order_bias")
    assert (found["cases"], found["skipped"], found["samples"]) == (13, 3, 13)
    assert list(found["skip_reasons"].items()) == [("empty", 2), ("equal_sentences", 1)]
    assert found["refused"] == ["y"]


@pytest.mark.parametrize(("foreign", "lead"), [(10, "10 of 20 rows are not in English. "), (9, "")])
def test_inconclusive_verdict_says_first_that_most_rows_are_not_in_english(foreign: int, lead: str) -> None:
    reasons = ["not_english"] * foreign + ["empty"] * (10 - foreign)
    skipped = pd.DataFrame({"sample_id": [f"s{n}" for n in range(10)], "skip_reason": reasons})
    open_, failed = (
        summary("add_toxic_words", skipped=skipped),
        summary("add_toxic_words", skipped=skipped, **{"pass": False}),
    )
    assert open_["reason"] == lead + summary("add_toxic_words")["reason"]
    assert (open_["verdict"], failed["verdict"]) == ("inconclusive", "fail")
    assert failed["reason"].startswith("With 95 % confidence")


def test_a_sample_that_was_asked_and_skipped_counts_once() -> None:
    twice = pd.DataFrame({"sample_id": [trials_of("order_bias")[0].case.sample_id], "skip_reason": ["empty"]})
    assert summary("order_bias", skipped=twice)["samples"] == 10


def test_the_chance_of_a_rate_is_that_of_the_cases_in_which_something_can_be_guessed() -> None:
    assert summary("order_bias", chance=[0.5, 0.25, *[None] * 8])["chance"] == 0.375
    assert summary("order_bias", chance=None)["chance"] is None


def test_the_first_gate_is_the_pass_rate_over_all_asked_cases() -> None:
    passing = [True] * 6 + [False] * 2 + [None] * 2
    found = summary("order_bias", **{"pass": pd.Series(passing, dtype=object), "undecided": False, "error": None})
    gate = found["gates"][0]
    assert (gate["name"], gate["wanted"], gate["rate"], gate["rows"], gate["open"]) == (
        "pass_rate", plan_of("order_bias").min_pass_rate, 0.75, 10, 2,
    )  # fmt: skip
    assert (found["pass_rate"], found["extremes"], found["coverage"]) == (0.75, (0.6, 0.8), 0.8)
    assert found["interval"] == gate["interval"]


def test_where_nothing_was_asked_there_is_no_rate() -> None:
    results = score_trials(trials_of("order_bias"), plan_of("order_bias"), model="mock", embed=no_embeddings)
    rules = Rules(min_pass_rate=0.65, max_error_share=0.02, gate="interval")
    none = results.to_pandas().iloc[:0]
    found = summarise(none, NO_TIME, plan_of("order_bias"), data=DATA, rules=rules)  # type: ignore[arg-type]
    assert (found["verdict"], found["pass_rate"], found["extremes"], found["chance"]) == (
        "inconclusive", None, None, None,
    )  # fmt: skip
    assert (found["cases"], found["gates"], found["coverage"]) == (3, [], None)
    foreign = NO_TIME.assign(skip_reason=["not_english", "empty", "not_english"])
    found = summarise(none, foreign, plan_of("order_bias"), data=DATA, rules=rules)  # type: ignore[arg-type]
    asked = "0 of 3 cases could be asked: 2 not english; 1 with a blank text."
    assert found["reason"] == f"2 of 3 rows are not in English. {asked}"


def test_a_row_in_error_enters_no_figure() -> None:
    errors = [None] * 9 + ["it broke"]
    whole, part = summary("order_bias"), summary("order_bias", error=errors)
    assert sum(whole["figures"][name] or 0 for name in ("AB", "AA", "BB", "BA", "unparsed")) == 10
    assert sum(part["figures"][name] or 0 for name in ("AB", "AA", "BB", "BA", "unparsed")) == 9


def test_stored_results_come_back_without_reasons_but_of_open_rows(in_tmp: object, monkeypatch: Any) -> None:
    monkeypatch.setenv("CONTRAPOSE_STORAGE", "tables")
    chosen: Probe = probe("order_bias")
    table = score_trials(trials_of("order_bias"), plan_of("order_bias"), model="mock", embed=no_embeddings)
    frame = table.to_pandas().assign(reason=[f"r{n}" for n in range(10)])
    frame["pass"] = pd.Series([True, False, None, *[True] * 7], dtype=object)
    frame["undecided"] = [False] * 3 + [True] + [False] * 6
    stored = write_arrow(
        [pa.Table.from_pandas(frame, schema=make_result_schema(chosen), preserve_index=False)],
        make_result_schema(chosen),
    )
    found = read_scored(stored, "order_bias")
    assert {place: reason for place, reason in enumerate(found["reason"]) if isinstance(reason, str)} == {
        2: "r2",
        3: "r3",
    }
    assert not {"original", "actual_result", "model"} & set(found.columns)
    schema = pa.schema([("sample_id", pa.string()), ("skip_reason", pa.string())])
    cases = pa.table({"sample_id": ["a", "b", "c"], "skip_reason": [None, "empty", None]}, schema=schema)
    assert read_skipped_cases(write_arrow([cases], schema)).to_dict("list") == {
        "sample_id": ["b"],
        "skip_reason": ["empty"],
    }


@pytest.mark.parametrize("side", ["expected", "actual"])
def test_nothing_is_asked_about_a_reply_beside_a_failed_call(side: str) -> None:
    plan = plan_of("order_bias").model_copy(update={"settings": {"read_with": "ask"}})
    unclear = Completion(text="It depends on what is meant by them.")
    trial = trials_of("order_bias")[0]
    unread = replace(trial, case=replace(trial.case, scorer="reply"), expected=unclear, actual=unclear)
    failed = replace(unread, **{side: replace(unclear, error="it broke")})
    assert [each.side for each in yield_follow_ups([[unread], []], plan, embed=embed_apart)] == ["expected", "actual"]
    assert list(yield_follow_ups([[failed]], plan, embed=embed_apart)) == []
