from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from attacks import ATTACKS
from factories import control, effect, outcome, report, summary
from hostile import hostile_report
from jsonschema import Draft202012Validator, ValidationError

from contrapose.tasks.report.schema import path, schema_bytes, summary_schema
from contrapose.tasks.report.summary import render, to_json
from contrapose.tasks.text.cleaning import replace_surrogates


def closed(schema: Any) -> Any:
    """The schema, without leave for keys that it does not name."""
    if isinstance(schema, list):
        return [closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    own = {"additionalProperties": False} if "properties" in schema and "required" in schema else {}
    return {name: closed(part) for name, part in schema.items()} | own


def complete() -> Any:
    """A summary in which every part is there."""
    langtest = {"judged": 36, "passed": 20, "agreed": 30}
    return summary(tests=[outcome(control=control(), effects=[effect()], langtest=langtest)])


def test_the_published_schema_is_up_to_date() -> None:
    assert path().read_bytes() == schema_bytes(), "Renew it: python -m contrapose.tasks.report.schema"


def test_it_is_a_schema() -> None:
    Draft202012Validator.check_schema(summary_schema())


@pytest.mark.parametrize("told", [summary(), complete()])
def test_what_is_written_fits_and_has_nothing_that_is_not_described(told: Any) -> None:
    Draft202012Validator(closed(summary_schema())).validate(json.loads(render(report(summary=told))))


@pytest.mark.parametrize("kind", ATTACKS)
def test_hostile_texts_fit_too_and_keep_it_valid(kind: str) -> None:
    validator = Draft202012Validator(summary_schema())
    for text in ATTACKS[kind]:
        told = strict(render(hostile_report(text)))
        assert told["suite"] == replace_surrogates(text)
        validator.validate(told)


@pytest.mark.parametrize("wrong", [{"schema_version": 2}, {"verdict": "maybe"}, {"tests": None}, {"seconds": "long"}])
def test_anything_else_does_not_fit(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Draft202012Validator(summary_schema()).validate(json.loads(json.dumps({**summary(), **wrong})))


def test_every_field_says_what_it_is() -> None:
    schema = summary_schema()
    kinds = {"Summary": schema, **schema["$defs"]}
    bare = [
        (kind, name)
        for kind, parts in kinds.items()
        for name, field in parts["properties"].items()
        if not field.get("description")
    ]
    assert bare == []


def strict(text: str | bytes) -> Any:
    """JSON as its standard has it, without NaN."""

    def refuse(name: str) -> None:
        raise AssertionError(name)

    return json.loads(text, parse_constant=refuse)


def test_the_file_holds_the_summary_in_whatever_order_its_keys_are() -> None:
    assert strict(render(report())) == json.loads(json.dumps(summary()))
    assert to_json(dict(reversed(summary().items()))) == to_json(summary())  # type: ignore[arg-type]


def test_what_is_not_finite_becomes_null() -> None:
    odd = outcome(figures={"a": float("nan"), "b": float("inf"), "c": np.float64("nan"), "d": np.int64(3)})
    tests = strict(to_json(summary(tests=[odd])))["tests"]
    assert tests[0]["figures"] == {"a": None, "b": None, "c": None, "d": 3}
