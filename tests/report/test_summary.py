from __future__ import annotations

import json

import numpy as np
from factories import outcome, report, summary
from hostile import HOSTILE, hostile_report

from contrapose.tasks.report.summary import render, to_json
from contrapose.tasks.text.cleaning import replace_surrogates


def strict(text: str | bytes) -> dict[str, object]:
    def refuse(name: str) -> None:
        raise AssertionError(name)

    return json.loads(text, parse_constant=refuse)


def test_the_file_holds_the_summary() -> None:
    assert strict(render(report())) == json.loads(json.dumps(summary()))


def test_what_is_not_finite_becomes_null() -> None:
    odd = outcome(figures={"a": float("nan"), "b": float("inf"), "c": np.float64("nan"), "d": np.int64(3)})
    tests = strict(to_json(summary(tests=[odd])))["tests"]
    assert tests[0]["figures"] == {"a": None, "b": None, "c": None, "d": 3}  # type: ignore[index]


def test_hostile_texts_keep_it_valid() -> None:
    for text in HOSTILE:
        assert strict(render(hostile_report(text)))["suite"] == replace_surrogates(text)


def test_the_order_of_keys_does_not_matter() -> None:
    turned = dict(reversed(summary().items()))
    assert to_json(turned) == to_json(summary())  # type: ignore[arg-type]
