"""What is checked before a model is asked, and the counts that are told."""

from __future__ import annotations

from contrapose.flows.preflight import check
from contrapose.tasks.config_file import load_config


def told(suite: str) -> dict[str, str]:
    config, _ = load_config(suite, {"model": "mock", "limit": 8})
    return {line.partition(" ")[0]: line for line in check(config)}


def test_cases_and_controls_are_counted_apart() -> None:
    lines = told("full")
    assert lines["order_bias"].endswith("rows 176, cases 8, to ask 8, skipped 0, controls 8")
    assert "controls" in lines["option_order"]


def test_without_controls_nothing_is_said_of_them() -> None:
    assert told("quickstart")["order_bias"].endswith("rows 176, cases 8, to ask 8, skipped 0")
