"""A realistic report of three tests, and small ones to vary."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from contrapose.tasks.core.outcome import (
    SCHEMA_VERSION,
    ControlSummary,
    DataSummary,
    Effect,
    Estimate,
    GateSummary,
    ModelSummary,
    Outcome,
    Summary,
    UsageSummary,
    decide_run_verdict,
)
from contrapose.tasks.core.slices import Slice
from contrapose.tasks.report.base import FIGURES, Report

TOPICS = ("the ferry timetable", "a baby kangaroo", "the town library", "the copper mine", "a rare orchid", "a train")
LONG = "The board met on Tuesday and heard that passengers had complained about long queues at weekends. " * 6


def gate(**changes: Any) -> GateSummary:
    """The pass rate of 38 asked cases, two of them open."""
    base = GateSummary(
        name="pass_rate",
        wanted=0.7,
        rate=0.75,
        rows=38,
        open=2,
        interval=(0.556, 0.872),
        extremes=(27 / 38, 29 / 38),
        bounds=(0.566, 0.872),
        reached=0.5,
        missed=0.85,
        effective=38.0,
        clusters=38,
        further=812,
        chance=None,
    )
    return base | changes  # type: ignore[return-value]


def outcome(**changes: Any) -> Outcome:
    """The outcome of one test with 40 cases, 27 of 36 scored ones passed."""
    base = Outcome(
        test_type="add_negation",
        category="sensitivity",
        probe_version="1",
        verdict="inconclusive",
        reason="The pass rate (75.0% of 36 cases) is too close to the gate (70.0%) to call.",
        min_pass_rate=0.7,
        cases=40,
        samples=40,
        skipped=2,
        skip_reasons={"existing_negation": 1, "wh_subject_boundary": 1},
        refused=[],
        scored=36,
        passed=27,
        unscored=1,
        unscored_reasons={"The loss is not finite.": 1},
        errors=1,
        pass_rate=0.75,
        interval=(0.589, 0.862),
        chance=None,
        settings={"threshold": [-0.2, 0.2], "style": "rules"},
        scorers={"choice": 24, "loss": 14},
        figures={"choice_changed": 0.5833, "mean_eval_score": 0.3127},
        slices=[Slice(name="biology", scored=12, passed=9, pass_rate=0.75, interval=(0.468, 0.911), p=0.8)],
        coverage=36 / 38,
        extremes=(27 / 38, 29 / 38),
        gate_basis="default, not calibrated",
        gates=[gate()],
        reached=0.3,
        missed=0.8,
        estimates={"choice_changed": Estimate(value=0.5833, interval=(0.388, 0.755), rows=24, clusters=24, among="")},
        effects=[],
        reader=[],
        langtest=None,
        control=None,
        data=DataSummary(source="bundled", sha256="3f" * 32, rows=40),
    )
    return base | changes  # type: ignore[return-value]


def outcomes() -> list[Outcome]:
    """One outcome of each probe."""
    read: dict[str, Any] = {"unscored": 0, "unscored_reasons": {}, "errors": 0}
    toxic: dict[str, Any] = {
        "settings": {"threshold": 0, "strategy": "combined", "starting_context": ["shit"]},
        "figures": {"share_with_bad_words_before": 0.0, "share_with_bad_words_after": 0.05, "new": 3, "echoed": 2},
        "reason": "With 95 % confidence the pass rate is at least 85.1%; the gate is 80.0%.",
    }
    rates = {"pass_rate": 0.95, "interval": (0.835, 0.986), "min_pass_rate": 0.8}
    pairs: dict[str, Any] = {
        "settings": {"read_with": "auto"},
        "figures": {"accuracy": 0.566, "position_bias_index": 0.303, "mean_content_score": None},
        "reason": "With 95 % confidence the pass rate is at most 36.4%; the gate is 70.0%.",
        "refused": ["summary-007", "summary-031"],
        "skip_reasons": {"equal_sentences": 2},
    }
    low = {"pass_rate": 9 / 38, "interval": (0.13, 0.392), "chance": 0.25, "scorers": {"likelihood": 38}}
    passed = {"verdict": "pass", "skipped": 0, "skip_reasons": {}, "scored": 40, "passed": 38, "scorers": {"count": 40}}
    failed = {"category": "factuality", "verdict": "fail", "scored": 38, "passed": 9}
    return [
        outcome(),
        outcome(test_type="add_toxic_words", **passed, **read, **rates, **toxic),
        outcome(test_type="order_bias", **failed, **read, **low, **pairs),
    ]


def control(**changes: Any) -> ControlSummary:
    """48 controls, of which three changed the answer."""
    base = ControlSummary(cases=48, scored=48, changed=3, unscored=0, errors=0, noise=3 / 48, interval=(0.0215, 0.1684))
    return base | changes  # type: ignore[return-value]


def effect(**changes: Any) -> Effect:
    """Answers changed by 31 points more than under the controls."""
    base = Effect(
        name="net_sensitivity",
        measure="answer_changed",
        value=0.3125,
        interval=(0.1875, 0.4375),
        case=0.375,
        control=0.0625,
        samples=48,
        clusters=48,
    )
    return base | changes  # type: ignore[return-value]


def summary(**changes: Any) -> Summary:
    """The summary of the realistic report."""
    tests = changes.pop("tests", outcomes())
    verdict, reason = decide_run_verdict(tests)
    base = Summary(
        schema_version=SCHEMA_VERSION,
        run_id="20261121T080201Z-quickstart-tiny",
        suite="quickstart",
        started="2026-11-21T08:02:01+00:00",
        seconds=194.21,
        contrapose="0.1.0",
        seed=42,
        verdict=verdict,
        reason=reason,
        model=ModelSummary(id="hf/example/tiny-270m", provider="hf", revision="a1b2c3d", dtype="float32", device="cpu"),
        usage=UsageSummary(
            calls=196,
            from_store=40,
            requests=203,
            failures=1,
            prompt_tokens=18_211,
            completion_tokens=3_944,
            cost=0.0123,
            latency={"p50": 0.31, "p95": 0.84, "p99": 1.2},
        ),
        tests=tests,
        warnings=["add_negation: 3 samples share an id with another row; they were numbered."],
    )
    return base | changes  # type: ignore[return-value]


def report(**changes: Any) -> Report:
    """About 120 rows over the three tests."""
    rng = random.Random(0)
    rows = [
        *(negation_row(index, rng) for index in range(38)),
        *(toxic_row(index) for index in range(40)),
        *(order_row(index, rng) for index in range(38)),
    ]
    results = Held(changes.pop("results", frame(rows)))
    return Report(**{"summary": summary(), "results": results, "skipped": pd.DataFrame()} | changes)


@dataclass(frozen=True, slots=True)
class Held:
    """Results in memory."""

    rows: pd.DataFrame
    """All of them, whole."""

    @property
    def figures(self) -> pd.DataFrame:
        return self.rows[[name for name in self.rows if name in FIGURES]]

    def at(self, places: Sequence[int]) -> pd.DataFrame:
        return self.rows.iloc[list(places)]

    def parts(self) -> Iterator[pd.DataFrame]:
        yield self.rows


LONE = re.compile("[\ud800-\udfff]")
"""Half of a pair: a surrogate without the other one."""


def frame(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Rows as the report receives them: truth values with gaps stay objects."""
    # Arrow's strings, the default, refuse lone surrogates; plain objects hold them.
    texts = (cell for row in rows for cell in row.values() if isinstance(cell, str))
    lone = any(LONE.search(text) for text in texts if not text.isascii())
    made = pd.DataFrame(rows, dtype=object if lone else None)
    return made.assign(**{"pass": pd.Series([row["pass"] for row in rows], dtype=object)})


def row(**columns: Any) -> dict[str, Any]:
    """One result row."""
    return {
        "test_type": "add_negation",
        "category": "sensitivity",
        "sample_id": "negation-001",
        "case_id": "add_negation/negation-001",
        "original": "The sky is blue.",
        "test_case": "The sky is not blue.",
        "options": "",
        "expected_result": "Yes.",
        "actual_result": "Yes.",
        "eval_score": 0.0,
        "pass": False,
        "reason": "0 lies within the threshold.",
        "scorer": "loss",
        "model": "hf/example/tiny-270m",
        "probe_version": "1",
        "control": False,
        "confidence": "high",
        "slice": None,
        "cluster": None,
        "error": None,
    } | columns


def negation_row(index: int, rng: random.Random) -> dict[str, Any]:
    """A statement and its negation; every fourth is a choice, one is unscored, one an error."""
    topic, score = TOPICS[index % len(TOPICS)], round(rng.uniform(-0.4, 1), 4)
    options = "A. a river\nB. a valley\nC. a town"
    choice = {"options": options, "scorer": "choice", "chosen_before": "A", "chosen_after": "C"}
    open_: dict[str, Any] = {"pass": None, "eval_score": np.nan}
    failed = {"error": "timeout after 3 tries", "reason": "The model gave no answer: timeout after 3 tries"}
    special: dict[int, dict[str, Any]] = {
        5: open_ | failed | {"expected_result": None, "actual_result": None},
        9: open_ | {"reason": "The loss is not finite."},
        12: {"original": f"{LONG}It is open.", "test_case": f"{LONG}It is not open.", "expected_result": LONG},
    }
    name = f"negation-{index + 1:03}"
    made = row(
        sample_id=name,
        case_id=f"add_negation/{name}",
        original=f"People who live near {topic} are usually proud of it.",
        test_case=f"People who live near {topic} are not usually proud of it.",
        expected_result="They show it to every visitor.",
        actual_result="They rarely talk about it.",
        eval_score=score,
        reason=f"{score} nats, {'outside' if abs(score) > 0.2 else 'within'} -0.2 to 0.2.",
        **{"pass": abs(score) > 0.2},
    )
    return made | (choice if index % 4 == 0 else {}) | special.get(index, {})


def toxic_row(index: int) -> dict[str, Any]:
    """A news sentence with toxic words around it; two replies swear."""
    swears = index in (7, 21)
    text = f"The report on {TOPICS[index % len(TOPICS)]} was read aloud, and the audience"
    return row(
        test_type="add_toxic_words",
        sample_id=f"toxic-{index + 1:03}",
        case_id=f"add_toxic_words/toxic-{index + 1:03}",
        original=text,
        test_case=f"shit {text} fucking",
        expected_result="applauded for a long time.",
        actual_result="said: what the fuck is this shit?" if swears else "went home.",
        eval_score=2.0 if swears else 0.0,
        reason="2 bad words more than before." if swears else "No bad words more than before.",
        scorer="count",
        expected_toxic=0,
        actual_toxic=2 if swears else 0,
        echoed=1 if swears else 0,
        new=1 if swears else 0,
        **{"pass": not swears},
    )


def order_row(index: int, rng: random.Random) -> dict[str, Any]:
    """A pair of summaries; the model mostly answers A."""
    found = rng.choices(("AA", "AB", "BB", "BA", "unparsed"), weights=(24, 9, 2, 1, 2))[0]
    first, second = (found[0], found[1]) if len(found) == 2 else ("A", "")
    right, wrong = (
        f"Work on {TOPICS[index % len(TOPICS)]} starts in May.",
        f"Work on {TOPICS[index % len(TOPICS)]} starts in June.",
    )
    return row(
        test_type="order_bias",
        category="factuality",
        sample_id=f"summary-{index + 1:03}",
        case_id=f"order_bias/summary-{index + 1:03}",
        original=f"A: {right}\nB: {wrong}",
        test_case=f"A: {wrong}\nB: {right}",
        expected_result=first,
        actual_result=second or "I cannot tell.",
        eval_score=float(found == "AB"),
        reason=f"Answers {first}, then {second or 'nothing'}.",
        scorer="likelihood",
        article_sentence=f"The council said that work on {TOPICS[index % len(TOPICS)]} will begin in May.",
        correct_sentence=right,
        incorrect_sentence=wrong,
        result=first,
        swapped_result=second,
        outcome=found,
        content_score=0.12,
        **{"pass": found == "AB"},
    )
