"""Whose limit holds for which data, and where bad rows may be left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from contrapose.flows.orchestration.form import read_form
from contrapose.flows.orchestration.options import resolve_suite
from contrapose.tasks.config.plan import plans
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.config.suite_files import load_config
from contrapose.tasks.core.policy import cache_key

Limit = tuple[int | None, str | None]


def limits(config: RunConfig) -> dict[str, Limit]:
    return {plan.test: (plan.limit, plan.limited_by) for plan in plans(config)}


def quickstart(**changes: Any) -> dict[str, Limit]:
    return limits(load_config("quickstart", {key.replace("__", "."): value for key, value in changes.items()})[0])


def own(folder: Path, text: str, **changes: Any) -> dict[str, Limit]:
    path = folder / "own.yaml"
    path.write_text(text + "tests: {factuality: {order_bias: {}}}\n")
    return limits(load_config(str(path), changes)[0])


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, (40, "suite")),
        ({"data": "pairs.csv"}, (None, None)),
        ({"data__source": "pairs.csv"}, (None, None)),
        ({"tests__factuality__order_bias__data": {"slice_by": "topic"}}, (40, "suite")),
        ({"limit": 7}, (7, "given")),
        ({"data": "pairs.csv", "limit": 40}, (40, "given")),
        ({"limit": None}, (None, None)),
        ({"data": "pairs.csv", "limit": 40, "tests__factuality__order_bias__limit": 9}, (9, "test")),
    ],
    ids=str,
)
def test_a_bundled_suites_limit_is_for_its_samples_and_a_given_one_for_any_data(
    changes: dict[str, Any], expected: Limit
) -> None:
    assert quickstart(**changes)["order_bias"] == expected


def test_a_test_with_data_of_its_own_is_judged_whole_and_the_others_are_cut() -> None:
    found = quickstart(tests__factuality__order_bias__data="pairs.csv")
    assert (found["order_bias"], found["add_negation"]) == ((None, None), (40, "suite"))


def test_a_suite_of_ones_own_means_its_limit(tmp_path: Path) -> None:
    assert own(tmp_path, "limit: 40\ndata: pairs.csv\n") == {"order_bias": (40, "suite")}
    assert own(tmp_path, "limit: 40\n", data="pairs.csv") == {"order_bias": (40, "suite")}
    assert own(tmp_path, "limit: 40\n", data="pairs.csv", limit=40) == {"order_bias": (40, "given")}
    assert own(tmp_path, "data: pairs.csv\n") == {"order_bias": (None, None)}


def test_without_a_suite_a_limit_is_given() -> None:
    assert limits(resolve_suite(None, {"data": "pairs.csv", "limit": 3})[0])["order_bias"] == (3, "given")


@pytest.mark.parametrize(
    ("filled", "expected"),
    [
        ({}, (40, "suite")),
        ({"data": "pairs.csv"}, (None, None)),
        ({"data": "pairs.csv", "limit": 40}, (40, "given")),
        ({"data": "pairs.csv", "advanced": {"limit": 40}}, (40, "given")),
        ({"advanced": {"data": {"source": "pairs.csv"}}}, (None, None)),
    ],
)
def test_a_form_follows_the_same_rule(filled: dict[str, Any], expected: Limit) -> None:
    found = limits(read_form({"suite": "quickstart", "model": "mock", **filled}))
    assert found["order_bias"] == expected


def test_a_configuration_that_was_stored_keeps_whose_limit_it_is() -> None:
    config, _ = load_config("quickstart", {"data": "pairs.csv"})
    again = RunConfig.model_validate_json(config.model_dump_json())
    assert limits(again) == limits(read_form(config.model_dump(mode="json"))) == limits(config)
    assert set(limits(again).values()) == {(None, None)}


def test_whose_limit_it_is_changes_no_cache_key() -> None:
    (suites, *_), (given, *_) = plans(load_config("quickstart")[0]), plans(load_config("quickstart", {"limit": 40})[0])
    assert (suites.limited_by, given.limited_by) == ("suite", "given")
    assert cache_key("perturb", (), {"plan": suites}) == cache_key("perturb", (), {"plan": given})


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, False),
        ({"skip_bad_rows": True}, True),
        ({"data": {"source": "a.csv", "skip_bad_rows": True}}, True),
        ({"tests.factuality.order_bias.data": {"skip_bad_rows": True}}, True),
        ({"skip_bad_rows": True, "tests.factuality.order_bias.data": "b.csv"}, True),
    ],
)
def test_bad_rows_are_left_out_where_the_run_or_the_data_say_so(changes: dict[str, Any], expected: bool) -> None:
    found = {plan.test: plan.data.skip_bad_rows for plan in plans(load_config("quickstart", changes)[0])}
    assert found["order_bias"] is expected
