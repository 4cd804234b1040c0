"""Results that tell of passages are held against these; suites may name the columns whether or not a run has them."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest
import yaml
from sound import every_plan, sound

from contrapose.tasks.core.validation import Finding, Suite
from contrapose.tasks.tables.passages import PASSAGES
from contrapose.tasks.tables.results import make_schema
from contrapose.tasks.validate.gates import sift
from contrapose.tasks.validate.wellformed import read_own_suites

TEST = "order_bias"
SOUND = ("other", 0.5, json.dumps(["a", "b"]), json.dumps(["a"]))


def found(values: tuple[object, ...] | None, *, own: tuple[Suite, ...] = ()) -> list[Finding]:
    """What is found of results whose rows all have these passages; None: they have no such columns."""
    made = sound(TEST)
    table = made.table("results")
    for field, value in zip(make_schema(PASSAGES), values or (), strict=False):
        table = table.append_column(field, pa.array([value] * len(table), field.type))
    return list(sift("results", [table], made.plan, handed=made.handed("results"), own=own).findings)


def broken(findings: list[Finding]) -> list[str]:
    return [str(finding["kwargs"].get("column")) for finding in findings if not finding["holds"]]


@pytest.mark.parametrize("values", [None, SOUND, (None, None, None, SOUND[2])])
def test_sound_passages_hold(values: tuple[object, ...] | None) -> None:
    assert broken(found(values)) == []


@pytest.mark.parametrize("values", [("same", *SOUND[1:]), (SOUND[0], 0.9, *SOUND[2:]), (*SOUND[:3], None)])
def test_what_contradicts_the_passages_is_caught(values: tuple[object, ...]) -> None:
    assert broken(found(values)) == ["wrong_passages"]


@pytest.mark.usefixtures("in_tmp")
@pytest.mark.parametrize(("values", "holds"), [(None, True), (SOUND, False)])
def test_a_users_suite_may_ask_for_passages_that_are_kept(values: tuple[object, ...] | None, holds: bool) -> None:
    kept = {"type": "expect_column_values_to_be_between", "kwargs": {"column": "passages_kept", "min_value": 0.8}}
    Path("results.yaml").write_text(yaml.safe_dump({"expectations": [kept]}))
    own = tuple(read_own_suites(["results.yaml"], [plan for plan in every_plan() if plan.test == TEST]))
    assert (broken(found(values, own=own)) == []) == holds
