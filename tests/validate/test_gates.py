"""Both gates: sound tables pass, and each seeded corruption is caught and named."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pandas as pd
import pyarrow as pa
import pytest
from mocked import mocked

from contrapose.tasks.columnar import schema_of, to_arrow
from contrapose.tasks.config import RunConfig, plans
from contrapose.tasks.errors import GateError
from contrapose.tasks.evaluate.scoring import score_trials
from contrapose.tasks.load.samples import load_samples
from contrapose.tasks.perturb.cases import build_cases
from contrapose.tasks.records import Case
from contrapose.tasks.registry import probe
from contrapose.tasks.results import schema_for
from contrapose.tasks.validate.gates import refuse_bad_cases, refuse_bad_results

TESTS = ("add_negation", "add_toxic_words", "order_bias", "option_order")


def made(test: str) -> tuple[pa.Table, pa.Table, int]:
    """Sound cases and results of a test on the mock model, and how many cases were asked."""
    plan = next(plan for plan in plans(RunConfig()) if plan.test == test).model_copy(update={"control": True})
    samples = load_samples(plan.data, probe(test).sample_type, limit=12, seed=0).samples
    cases = list(build_cases(samples, plan, seed=0, likelihoods="all"))
    trials = mocked(cases)
    results = score_trials(trials, plan, model="mock", embed=lambda texts: None)  # type: ignore[arg-type, return-value]
    return to_arrow(cases, Case), results, len(trials)


@pytest.mark.parametrize("test", TESTS)
def test_sound_tables_pass_both_gates(test: str) -> None:
    cases, results, asked = made(test)
    refuse_bad_cases([cases], test=test)
    refuse_bad_results([results], test=test, asked=asked)


Corrupt = Callable[[pd.DataFrame], object]


def setting(column: str, value: object) -> Corrupt:
    """Put a value into the second row."""

    def corrupt(frame: pd.DataFrame) -> None:
        frame[column] = frame[column].astype(object)
        frame.at[1, column] = value

    return corrupt


def unchanged(frame: pd.DataFrame) -> None:
    frame.at[1, "perturbed_prompt"] = frame.at[1, "original_prompt"]


BAD_CASES = [
    (
        "a duplicated id",
        lambda frame: frame.__setitem__("id", frame["id"].where(frame.index != 1, frame["id"][0])),
        "id",
    ),
    ("no id", setting("id", None), "id"),
    ("no sample id", setting("sample_id", None), "sample_id"),
    ("no probe version", setting("version", None), "version"),
    ("an unknown way to ask", setting("asks", "guess"), "asks"),
    ("an unknown confidence", setting("confidence", "total"), "confidence"),
    ("a perturbation that changes nothing", unchanged, "unchanged"),
    ("a lost perturbation", setting("perturbed_prompt", None), "half_skipped"),
    ("a skipped control", setting("skip_reason", "empty"), "skipped_control"),
    ("neither test nor control", setting("control", None), "control"),
]


@pytest.mark.parametrize(("corrupt", "named"), [bad[1:] for bad in BAD_CASES], ids=[bad[0] for bad in BAD_CASES])
def test_corrupted_cases_are_refused_and_named(corrupt: Corrupt, named: str) -> None:
    frame = made("order_bias")[0].to_pandas()
    corrupt(frame)
    with pytest.raises(GateError) as caught:
        refuse_bad_cases([pa.Table.from_pandas(frame, schema=schema_of(Case), preserve_index=False)], test="order_bias")
    assert named in str(caught.value)
    assert (frame.at[1, "id"] or "row 2") in str(caught.value)


BAD_RESULTS = [
    ("a duplicated case", lambda frame: frame.__setitem__("case_id", frame["case_id"][0]), "case_id"),
    ("no reason", setting("reason", None), "reason"),
    ("no scorer", setting("scorer", None), "scorer"),
    ("no changed prompt", setting("test_case", None), "test_case"),
    ("neither test nor control", setting("control", None), "control"),
    ("a divergence over 1", setting("eval_score", 1.5), "eval_score"),
    ("a negative divergence", setting("eval_score", -0.5), "eval_score"),
    ("an infinite score", setting("eval_score", float("inf")), "eval_score"),
    ("a verdict without a score", setting("eval_score", None), "passed_unscored"),
    ("an answer in spite of an error", setting("error", "it broke"), "answered_error"),
    ("an answer without words", setting("expected_result", None), "silent"),
]


@pytest.mark.parametrize(("corrupt", "named"), [bad[1:] for bad in BAD_RESULTS], ids=[bad[0] for bad in BAD_RESULTS])
def test_corrupted_results_are_refused_and_named(corrupt: Corrupt, named: str) -> None:
    _, results, asked = made("order_bias")
    frame = results.to_pandas()
    corrupt(frame)
    table = pa.Table.from_pandas(frame, schema=schema_for(probe("order_bias")), preserve_index=False)
    with pytest.raises(GateError) as caught:
        refuse_bad_results([table], test="order_bias", asked=asked)
    assert named in str(caught.value)


@pytest.mark.parametrize("change", [-1, 1])
def test_a_lost_or_an_added_row_is_refused(change: int) -> None:
    _, results, asked = made("add_toxic_words")
    with pytest.raises(GateError, match="row_count"):
        refuse_bad_results([results], test="add_toxic_words", asked=asked + change)


def test_a_missing_column_and_a_wrong_type_are_refused() -> None:
    _, results, asked = made("add_toxic_words")
    with pytest.raises(GateError, match="column pass is missing"):
        refuse_bad_results([results.drop_columns(["pass"])], test="add_toxic_words", asked=asked)
    place = results.schema.get_field_index("pass")
    text = results.set_column(place, "pass", pa.array(["True"] * results.num_rows))
    with pytest.raises(GateError, match="column pass is string"):
        refuse_bad_results([text], test="add_toxic_words", asked=asked)


def test_no_rows_are_refused() -> None:
    with pytest.raises(GateError, match="row_count"):
        refuse_bad_cases([to_arrow([], Case)], test="order_bias")


def parts_of(table: pa.Table, rows: int) -> list[pa.Table]:
    return [table.slice(start, rows) for start in range(0, table.num_rows, rows)]


@pytest.mark.parametrize("rows", [1, 5, 100])
def test_parts_are_told_as_one_table(rows: int) -> None:
    cases, results, asked = made("order_bias")
    for table, refuse in ((cases, refuse_bad_cases), (results, partial(refuse_bad_results, asked=asked))):
        key = "id" if table is cases else "case_id"
        ids = table[key].to_pylist()
        ids[-1], ids[3], ids[8] = ids[0], None, None
        twice = table.set_column(table.schema.get_field_index(key), key, pa.array(ids))
        with pytest.raises(GateError) as caught:
            refuse(parts_of(twice, rows), test="order_bias")
        text = str(caught.value)
        assert f"unique (column={key}) broken by {ids[0]}, {ids[0]};" in text
        assert f"not_be_null (column={key}) broken by row 4, row 9;" in text
