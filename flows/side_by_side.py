"""Models that are asked side by side, and stopped together: as soon as it is decided whether one is worse, or not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

import numpy as np

from contrapose.flows.early_stopping import (
    Gradual,
    ask_next,
    count_saved,
    decision_now,
    gradual,
    read_replies,
    results_now,
)
from contrapose.flows.orchestration.progress import watched
from contrapose.flows.run_context import Run
from contrapose.flows.run_lifecycle import alive, begin
from contrapose.flows.steps import load, perturb, validate_cases
from contrapose.tasks.compare.pairs import pairs_of
from contrapose.tasks.compare.rows import rows_in
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core.comparison import Pair
from contrapose.tasks.evaluate.gate import GateDecision
from contrapose.tasks.infer.chunks import questions_in
from contrapose.tasks.infer.meter import Meter
from contrapose.tasks.statistics.looks import Looks
from contrapose.tasks.statistics.shares import LEVEL
from contrapose.tasks.store import Store
from contrapose.tasks.text.wording import counted

Decide = Callable[["Midway"], bool]
"""Whether a test needs no further case."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contestant:
    """One of the models, and how far it was asked."""

    run: Run
    tests: dict[str, Gradual]


@dataclass(frozen=True, slots=True, kw_only=True)
class Midway:
    """What is known of one test after a look."""

    pairs: list[Pair]
    """Each other model against the baseline, which is the first of the models."""
    gates: list[GateDecision | None]
    """What each model's own gates say, in the order of the models; None where that is nothing yet."""
    rates: list[float]
    """Observed pass rate of each model."""
    wanted: float
    """The gate of the pass rate."""
    tests: int
    """Of each run: what one of them claims must hold among all."""


def ask_side_by_side(configs: Sequence[RunConfig], *, margin: float, decide: Decide) -> list[str]:
    """Ask several models the same cases, portion by portion, until every test is decided; returns the ids of the runs.

    The runs are left unfinished. Each is gone on with by its id: in the response store it finds the answers, and after
    which look it stops.

    Args:
        configs: of the runs, the baseline first.
        margin: loss of pass rate that is still called not worse, 0 to 1.
        decide: when a test needs no further case.
    """
    runs = [begin(config, alone=False) for config in configs]
    try:
        with ExitStack() as context:
            for run in runs:
                context.enter_context(alive(run))
                context.enter_context(run.workers)
            prepared = [_prepared(run, beside=[run.id for run in runs]) for run in runs]
            looks = _asked_together(prepared, margin=margin, decide=decide)
            for run in runs:
                Store().looks.settle(run.id, looks, beside=[run.id for run in runs])
    finally:
        for run in runs:
            Store().runs.end(run.id, "incomplete")
    return [run.id for run in runs]


def _prepared(run: Run, *, beside: Sequence[str]) -> Contestant:
    """A model whose cases are made and checked."""
    samples = load(run)
    cases = perturb(run, samples)
    validate_cases(run, samples, cases)
    tests = {plan.test: gradual(run, plan, cases[plan.test], beside=beside) for plan in run.plans}
    return Contestant(run=run, tests=tests)


def _asked_together(models: Sequence[Contestant], *, margin: float, decide: Decide) -> dict[str, int]:
    """After which look of each test all models stop."""
    total = sum(questions_in(test.cases) for model in models for test in model.tests.values())
    title = f"asking {counted('models', len(models))} side by side"
    with watched(total, title=title, ended=lambda: "asked side by side") as meter:
        going = [name for name in models[0].tests if _same_cases([model.tests[name] for model in models])]
        over: list[str] = []
        while going and not _ask_all(models, going, meter):
            over += [name for name in going if _is_over(models, name, margin, decide)]
            count_saved(meter, (model.tests[name] for model in models for name in over))
            going = [name for name in going if name not in over and not models[0].tests[name].over]
    return {name: test.taken for name, test in models[0].tests.items() if test.taken and name not in going}


def _same_cases(tests: Sequence[Gradual]) -> bool:
    """Whether models are asked the same; a test may ask another one otherwise, by what that model can do."""
    first, *others = tests
    return not first.over and all(
        other.schedule.past.hashes == first.schedule.past.hashes
        and len(other.schedule.looks) == len(first.schedule.looks)
        for other in others
    )


def _ask_all(models: Sequence[Contestant], going: Sequence[str], meter: Meter) -> str | None:
    """Ask each model the next portion of each test; why nothing more is to be asked of one, if that is so."""
    # Of two models on this machine the one that is loaded comes first: every second time that is the last one.
    turn, reasons = models[0].tests[going[0]].taken % 2, list[str | None]()
    for model in reversed(models) if turn else models:
        own = [model.tests[name] for name in going]
        reasons.append(ask_next(model.run, own, meter, stopped=None))
        for test in own:
            read_replies(model.run, test, stopped=reasons[-1])
    return next(filter(None, reasons), None)


def _is_over(models: Sequence[Contestant], name: str, margin: float, decide: Decide) -> bool:
    own = [model.tests[name] for model in models]
    names, looks = [model.run.id for model in models], own[0].schedule.up_to(own[0].taken)
    results = [results_now(model.run, test) for model, test in zip(models, own, strict=True)]
    rows = rows_in(results, Looks(shares=looks.shares))
    pairs = pairs_of(rows, names, margin=margin)
    tests = len(models[0].tests)
    return decide(
        Midway(
            pairs=[pair for pair in pairs if pair["second"] == names[0]],
            gates=[decision_now(model.run, test, tests=tests) for model, test in zip(models, own, strict=True)],
            rates=[float(np.nanmean(passed)) if np.isfinite(passed).any() else 0.0 for passed in rows.passed],
            wanted=0.0 if rows.noticed else own[0].plan.min_pass_rate,
            tests=tests,
        )
    )


def decided_between(midway: Midway) -> bool:
    """Whether all that a comparison claims is clear: of each model whether it is better, not worse or worse."""
    return all(pair["verdict"] != "cannot tell" for pair in midway.pairs)


def decided_on_candidate(midway: Midway) -> bool:
    """Whether it is clear that a candidate, the last of the models, is to be held, or may be promoted.

    One that is not worse, and yet seems to miss its own gate, is asked further: it may fail.
    """
    gate = midway.gates[-1]
    failed = gate is not None and gate.missed is not None and gate.missed <= LEVEL / midway.tests
    if failed or any(pair["verdict"] == "worse" for pair in midway.pairs):
        return True
    return decided_between(midway) and midway.rates[-1] >= midway.wanted
