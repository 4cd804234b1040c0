"""Every figure, gate and scorer of every test has a sentence that says what it is."""

from __future__ import annotations

import pytest
from validate.sound import sound

from contrapose.tasks.core.registry import PROBES, probe
from contrapose.tasks.report.evidence import explanation


@pytest.mark.parametrize("likelihoods", ["all", "none"])
@pytest.mark.parametrize("test", PROBES)
def test_no_figure_gate_or_scorer_is_without_an_explanation(test: str, likelihoods: str) -> None:
    table = sound(test, likelihoods=likelihoods)
    results, chosen = table.table("results").to_pandas(), probe(test)
    named = {measure.name for measure in chosen.measures(results)}
    named |= set(chosen.summarise(results[~results["control"].astype(bool)]))
    named |= {criterion.name for criterion in chosen.criteria(results, table.plan.probe_settings)}
    named |= set(results["scorer"])
    # These are drawn under a heading of their own, which is explained.
    named = {name for name in named if not name.startswith("read_by_") and name != "unread"}
    assert [name for name in sorted(named) if not explanation(test, name)] == []
