"""What the list says of a run, from its summary.json, and of a comparison, from its comparison.json."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contrapose.flows.command.view.entry import Links, Listed
from contrapose.tasks.core.comparison import judged
from contrapose.tasks.core.outcome import SEVERITY
from contrapose.tasks.text.masking import Show
from contrapose.tasks.text.wording import moment, percent

COLOURS = {"better": "pass", "not worse": "pass", "cannot tell": "inconclusive", "worse": "fail"}
"""Verdicts of a comparison, and the run's verdicts whose colours they have."""


def run_told(summary: Mapping[str, Any], name: str, show: Show, links: Links) -> Listed:
    """A run: its tests with their pass rates."""
    verdict, started = str(summary["verdict"]), str(summary["started"])
    rates = [(str(test["test_type"]), test["pass_rate"]) for test in summary["tests"]]
    return Listed(
        name=name,
        verdict=verdict if verdict in SEVERITY else "unknown",
        colour=verdict if verdict in SEVERITY else "",
        model=show(str(summary["model"]["id"])),
        suite=show(str(summary["suite"])),
        started=show(started),
        moment=show(moment(started)),
        reason=show(str(summary["reason"])),
        rates=tuple(f"{show(test)} {percent(None if rate is None else float(rate))}" for test, rate in rates),
        links=links,
    )


def comparison_told(content: Mapping[str, Any], name: str, show: Show, links: Links) -> Listed:
    """A comparison: the models against their baseline, and what was found of each in each test."""
    verdict, baseline = str(content["verdict"]), str(content["baseline"])
    others = [str(model["name"]) for model in content["models"] if model["name"] != baseline]
    found = [(f"{test} {pair['verdict']}", str(pair["first"])) for test, pair in judged(content["tests"])]
    # The flow's name for a folder begins with the time.
    stamp = name.partition("-")[0]
    return Listed(
        name=name,
        verdict=verdict if verdict in COLOURS else "unknown",
        colour=COLOURS.get(verdict, ""),
        model=show(f"{', '.join(others)} against {baseline}"),
        suite="comparison",
        started="",
        moment="" if moment(stamp) == stamp else moment(stamp),
        reason=show(str(content["reason"])),
        rates=tuple(show(f"{said} ({first})" if len(others) > 1 else said) for said, first in found),
        links=links,
    )
