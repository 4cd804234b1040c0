"""Planted judges of judge_cues: leans in their intervals, biases that are shown, and none that are invented."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import NamedTuple

import numpy as np
import pandas as pd

from bench.simulated.draws import Finding, covered
from contrapose.tasks.evaluate.gate import Counts, Rules, decide
from contrapose.tasks.evaluate.rates import compute_rate
from contrapose.tasks.probes.judge_cues.cues import CUES
from contrapose.tasks.probes.judge_cues.probe import (
    JudgeCues,
    JudgeCuesSettings,
    compute_lean,
    decide_outcome,
    describe_cue,
)
from contrapose.tasks.statistics.means import mean

LIMIT = 0.1
"""The default `max_lean`."""
CASES = (60, 224)
COVERED, INVENTED, POWER = 0.94, 0.05, 0.8
TRIVIAL = 0.05
"""A cue that sways in so few of the cases lies well under the limit."""


class Planted(NamedTuple):
    """How a judge chooses, in shares of the cases: any others it decides by a coin in each order."""

    styled: float = 0.0
    """It chooses the text with the cue in both orders; of equal answers, the first place twice."""
    plain: float = 0.0
    """It chooses the other text, or place, in both orders."""
    position: float = 0.0
    """It chooses the first place in both orders, which leans to no cue; of equal answers, each place once."""
    tied: float = 0.0
    """It calls a tie in both orders."""
    half_tied: float = 0.0
    """It calls a tie in one order, and chooses the text with the cue in the other."""

    @property
    def lean(self) -> float:
        """The true lean to a cue."""
        return (self.styled - self.plain) / 2 + self.half_tied / 4


JUDGES: Mapping[str, Planted] = {
    "coin": Planted(),
    "position": Planted(position=0.8),
    "ties": Planted(tied=0.9),
    "lean 0.02, mostly ties": Planted(styled=0.04, tied=0.96),
    "lean 0.1, coin": Planted(styled=0.2),
    "lean 0.1, position": Planted(styled=0.2, position=0.8),
    "lean 0.1, both ways": Planted(styled=0.4, plain=0.2, tied=0.2),
    "lean 0.25, half ties": Planted(styled=0.3, half_tied=0.4, position=0.2),
    "lean -0.15, coin": Planted(plain=0.3),
    "lean 0.45, coin": Planted(styled=0.9),
}
STYLED, PLAIN, POSITION, TIED, HALF_TIED = range(5)


def cues(sizes: np.ndarray, runs: int) -> Iterator[Finding]:
    """Coverage of each planted lean, then what is shown and invented by the verdicts on all cues."""
    rng = np.random.default_rng(55)
    for cases, (name, judge) in product(CASES, JUDGES.items()):
        held = np.mean([covered(_interval(_choices(rng, judge, cases)), judge.lean) for _ in range(runs)])
        yield Finding(name=f"{cases} cases, {name}: in its interval", value=float(held), low=COVERED)
    yield from _verdicts(rng, runs)


def _verdicts(rng: np.random.Generator, runs: int) -> Iterator[Finding]:
    """How often cues are shown to sway a judge, and how often the test passes or fails."""
    for noise, planted in (("coin", Planted()), ("position", Planted(position=1.0)), ("ties", Planted(tied=1.0))):
        invented = np.mean([bool(_claims(rng, {}, planted).swayed) for _ in range(runs)])
        yield Finding(name=f"no lean, {noise}: any is invented", value=float(invented), high=INVENTED)
    for cue in CUES:
        claims = [_claims(rng, {cue: Planted(styled=0.5)}, Planted()) for _ in range(runs)]
        found = float(np.mean([cue in claim.swayed for claim in claims]))
        others = float(np.mean([bool(claim.swayed - {cue}) for claim in claims]))
        yield Finding(name=f"{cue} leans by 0.25: shown", value=found, low=POWER)
        yield Finding(name=f"{cue} leans by 0.25: another one is invented", value=others, high=INVENTED)
    for noise, rest in (("coin", 0.0), ("position", 0.8)):
        at_limit = Planted(styled=2 * LIMIT, position=rest)
        all_at_limit = [_claims(rng, dict.fromkeys(CUES, at_limit), Planted()) for _ in range(runs)]
        fails = np.mean([claim.verdict == "fail" for claim in all_at_limit])
        yield Finding(name=f"all lean by the limit, {noise}: fails", value=float(fails), high=INVENTED)
        one = [_claims(rng, {"filler": at_limit}, Planted(tied=1.0)) for _ in range(runs)]
        passes = np.mean([claim.verdict == "pass" for claim in one])
        yield Finding(name=f"one leans by the limit, {noise}: passes", value=float(passes), high=INVENTED)


def _choices(rng: np.random.Generator, judge: Planted, cases: int) -> pd.DataFrame:
    """Return rows of one styled cue, as the test scores them."""
    return _rows(rng, judge, cases, "filler")


def _rows(rng: np.random.Generator, judge: Planted, cases: int, cue: str) -> pd.DataFrame:
    identical = cue == "identical"
    kind = np.searchsorted(np.cumsum(judge), rng.random(cases), side="right")
    coins = rng.integers(0, 2, (cases, 2))
    styled, plain = (("A", "A"), ("B", "B")) if identical else (("B", "A"), ("A", "B"))
    by_kind = {STYLED: styled, PLAIN: plain, POSITION: ("A", "B") if identical else ("A", "A"), TIED: ("", "")}
    by_kind[HALF_TIED] = ("", styled[1])
    rows = []
    for own, coin in zip(kind, coins, strict=True):
        first, second = by_kind.get(int(own), ("AB"[coin[0]], "AB"[coin[1]]))
        said = ["choice" if choice else "tie" for choice in (first, second)]
        outcome = decide_outcome(first, second, said, identical=identical)
        lean = compute_lean(first, second, outcome, identical=identical)
        rows.append((cue, first, second, *said, outcome, lean))
    names = ["cue", "result", "swapped_result", "said", "swapped_said", "outcome", "lean"]
    return pd.DataFrame(rows, columns=names).assign(control=False)


def _interval(rows: pd.DataFrame) -> tuple[float, float] | None:
    [lean] = [measure for measure in JudgeCues().measures(rows) if measure.name == "lean_filler"]
    own = mean(lean.values, np.arange(len(rows)), bounds=lean.bounds)
    return own.interval if own else None


class Claims(NamedTuple):
    """What one run says of all cues."""

    swayed: set[str]
    verdict: str


def _claims(rng: np.random.Generator, planted: Mapping[str, Planted], others: Planted) -> Claims:
    """Return which cues a run shows to sway a judge, and its verdict; each sample has a case of every cue."""
    cases = CASES[-1]
    judges = {cue: planted.get(cue, others) for cue in CUES}
    rows = pd.concat([_rows(rng, judge, cases, cue) for cue, judge in judges.items()], ignore_index=True)
    sample = np.tile(np.arange(cases), len(CUES))
    gates = JudgeCues().criteria(rows, JudgeCuesSettings(cues=tuple(CUES), max_lean=LIMIT))
    rates = [
        compute_rate(gate.name, gate.met[gate.applies], sample[gate.applies], wanted=gate.wanted) for gate in gates
    ]
    known = [rate for rate in rates if rate is not None]
    rules = Rules(min_pass_rate=0.0, max_error_share=0.0, gate="interval")
    decision = decide(Counts(len(rows), len(rows), len(rows), 0), known, rules)
    by_cue = {cue: [gate for gate in decision.gates if _is_of(gate["name"], cue)] for cue in CUES}
    shown = {cue for cue, own in by_cue.items() if describe_cue(own, among=len(decision.gates)) == "sways the judge"}
    return Claims(shown, decision.verdict)


def _is_of(gate: str, cue: str) -> bool:
    return gate.endswith(cue) or (cue == "identical" and gate in ("share_first", "share_second"))
