"""The data of a test: laid over the run's where it names no source, in their place where it does."""

from __future__ import annotations

from typing import Any

import pytest

from contrapose.flows.orchestration.form import read_form
from contrapose.flows.orchestration.options import resolve_suite, select_tests
from contrapose.tasks.config.data_settings import DataSettings, merge_data_settings
from contrapose.tasks.config.plan import plans
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core.errors import ConfigError

TEST = "tests.sensitivity.add_negation.data"


def planned(config: RunConfig) -> DataSettings:
    """The data of the one test that is selected."""
    (plan,) = plans(select_tests(config, ["add_negation"]))
    return plan.data


@pytest.mark.parametrize("key", [TEST, "data"])
@pytest.mark.parametrize("suite", [None, "quickstart"])
def test_a_column_is_mapped_beside_the_data_of_the_run(key: str, suite: str | None) -> None:
    config, _ = resolve_suite(suite, {"data": "q.csv", f"{key}.columns.text": "prompt"})
    assert planned(config) == DataSettings(source="q.csv", columns={"text": "prompt"})


def test_columns_of_a_test_are_added_to_those_of_the_run() -> None:
    general = {"source": "q.csv", "columns": {"id": "key", "text": "stem"}, "slice_by": "topic"}
    data = merge_data_settings({"columns": {"text": "prompt"}}, general)
    assert (data.columns, data.slice_by) == ({"id": "key", "text": "prompt"}, "topic")


def test_columns_of_options_may_be_a_list() -> None:
    config, _ = resolve_suite(None, {"data": "q.csv", "data.columns.options": ["A", "B", "C"]})
    assert planned(config) == DataSettings(source="q.csv", columns={"options": "A,B,C"})


def test_without_data_of_the_run_the_bundled_samples_are_meant() -> None:
    config, _ = resolve_suite(None, {f"{TEST}.slice_by": "topic"})
    assert planned(config) == DataSettings(source="negation", slice_by="topic")


@pytest.mark.parametrize("own", ["own.csv", {"source": "own.csv"}])
def test_a_source_of_its_own_comes_in_place_of_the_data_of_the_run(own: Any) -> None:
    assert merge_data_settings(own, {"source": "q.csv", "columns": {"text": "prompt"}}) == DataSettings(
        source="own.csv"
    )


def test_the_form_lays_a_column_over_its_data_too() -> None:
    advanced = {"tests": {"sensitivity": {"add_negation": {"data": {"columns": {"text": "prompt"}}}}}}
    config = read_form({"data": {"source": "q.csv"}, "only": ["add_negation"], "advanced": advanced})
    assert planned(config) == DataSettings(source="q.csv", columns={"text": "prompt"})


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"data.columns.text": "prompt"}, "data.source: settings of data without a source; expected a file"),
        ({f"{TEST}.colums.text": "prompt"}, f"{TEST}: colums: unknown key 'colums'"),
        ({f"{TEST}.colums.text": "prompt"}, "Did you mean 'columns'?"),
        ({f"{TEST}.columns.txt": "prompt"}, "columns has no field 'txt'; expected one of text"),
        ({f"{TEST}.columns": "prompt"}, f"{TEST}: columns: 'prompt'; expected a valid dictionary"),
        ({TEST: 5}, f"{TEST}: 5; expected a valid dictionary"),
    ],
)
def test_wrong_data_are_told_with_their_key(changes: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigError) as caught:
        planned(resolve_suite(None, changes)[0])
    assert told in str(caught.value)


def test_a_password_in_the_source_of_a_test_is_never_repeated() -> None:
    config, _ = resolve_suite(None, {f"{TEST}.source": "https://user:hidden@host/a.csv"})
    with pytest.raises(ConfigError) as caught:
        planned(config)
    assert "password" in str(caught.value)
    assert "hidden" not in str(caught.value)
    assert caught.value.__suppress_context__
