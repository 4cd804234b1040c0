"""Figures of every test: each has an explanation, and where no reply says anything, no figure does."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from validate.sound import sound

from contrapose.tasks.core.records import Completion
from contrapose.tasks.core.registry import PROBES, probe
from contrapose.tasks.core.reply_outcomes import EXPLAINED, ReplyOutcome
from contrapose.tasks.evaluate.gate import Rules
from contrapose.tasks.evaluate.scoring import score_trials, yield_follow_ups
from contrapose.tasks.evaluate.summarise import summarise
from contrapose.tasks.report.evidence import explain_term

NONE_SKIPPED = pd.DataFrame({"sample_id": [], "skip_reason": []})
DATA = {"source": "x", "sha256": "0", "rows": 12}
RULES = Rules(min_pass_rate=0.65, max_error_share=0.02, gate="interval")
COUNTS = (
    "samples", "labelled", "unparsed", "tied", "refused", "unread", "empty_replies", "refused_replies",
    "share_moderated",
)  # fmt: skip
"""Figures that count what is there, or what could not be read."""


def embed(texts: object) -> np.ndarray:
    return np.ones((len(list(texts)), 4)) / 2  # type: ignore[call-overload]


def outcome_of(test: str, *replies: Completion) -> dict[str, object]:
    """The outcome of a test whose replies are all alike: to the unchanged prompts, and to the changed ones."""
    table = sound(test, likelihoods="none")
    if not table.completions:
        pytest.skip("the bundled samples have nothing for this test")
    before, after = replies[0], replies[-1]
    trials = [replace(trial, expected=before, actual=after) for trial in table.completions]
    results = score_trials(trials, table.plan, model="mock", embed=embed).to_pandas()
    if hasattr(probe(test), "follow_ups"):
        assert before.outcome == "answered" or list(yield_follow_ups([trials], table.plan, embed=embed)) == []
    return dict(summarise(results, NONE_SKIPPED, table.plan, data=DATA, rules=RULES))  # type: ignore[arg-type]


@pytest.mark.parametrize("test", PROBES)
@pytest.mark.parametrize("outcome", ["moderated", "tool_call", "malformed", "cut_off"])
def test_a_withheld_reply_is_no_figure_and_names_its_cause(test: str, outcome: ReplyOutcome) -> None:
    told = outcome_of(test, Completion(text="", outcome=outcome))
    assert (told["scored"], told["errors"], told["verdict"]) == (0, 0, "inconclusive")
    assert EXPLAINED[outcome].reason in str(told["reason"])
    assert set(told["unread_replies"]) == {outcome}  # type: ignore[call-overload]
    figures = {name: value for name, value in told["figures"].items() if not name.startswith(COUNTS)}  # type: ignore[attr-defined]
    assert set(figures.values()) <= {None}
    assert told["effects"] == []


@pytest.mark.parametrize("test", PROBES)
@pytest.mark.parametrize("text", ["", "Hm."])
def test_replies_that_say_nothing_are_no_share_of_anything(test: str, text: str) -> None:
    told = outcome_of(test, Completion(text=text))
    if test == "add_toxic_words" and text:
        assert told["figures"]["toxic_after_share"] == 0  # type: ignore[index]
        return
    shares = [name for name in told["figures"] if "accuracy" in name or "right" in name or "share" in name]  # type: ignore[attr-defined]
    assert {name: told["figures"][name] for name in shares if told["figures"][name] is not None} == {}  # type: ignore[index]
    assert "unread_replies" not in told


@pytest.mark.parametrize("test", [name for name in PROBES if name != "add_toxic_words"])
def test_a_refusal_is_not_read_for_a_choice(test: str) -> None:
    told = outcome_of(test, Completion(text="A"), Completion(text="A. But I must decline.", outcome="refused"))
    assert told["scored"] == 0
    assert EXPLAINED["refused"].reason in str(told["reason"])


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
    assert [name for name in sorted(named) if not explain_term(test, name)] == []
