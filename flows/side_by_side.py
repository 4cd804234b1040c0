"""Interim comparison: ask models side by side, and stop all as soon as it is clear whether one is worse."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

import numpy as np

from contrapose.flows.early_stopping import GradualTest, ask_next_portions, count_saved, prepare_test
from contrapose.flows.orchestration.progress import watch_progress
from contrapose.flows.run_lifecycle import begin_run, mark_alive
from contrapose.flows.steps import load, perturb, validate_cases
from contrapose.tasks.compare.pairs import compare_pairs
from contrapose.tasks.compare.rows import align_tables
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core.comparison import Pair
from contrapose.tasks.evaluate.gate import GateDecision
from contrapose.tasks.infer.chunks import count_questions
from contrapose.tasks.infer.meter import Meter
from contrapose.tasks.statistics.looks import Looks
from contrapose.tasks.statistics.shares import LEVEL
from contrapose.tasks.store import Store
from contrapose.tasks.text.wording import counted

Models = Sequence[dict[str, GradualTest]]
"""Tests of each model by their names, the baseline first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InterimComparison:
    """Comparison of the models on one test after a look."""

    pairs: list[Pair]
    """Each other model against the baseline, which is the first of the models."""
    gates: list[GateDecision | None]
    """Decision of each model by its own gates, in the order of the models; None where nothing can be said yet."""
    rates: list[float]
    """Observed pass rate of each model."""
    wanted: float
    """The gate of the pass rate."""
    tests: int
    """Tests of each run: a claim about one must hold among all."""


Decide = Callable[[InterimComparison], bool]
"""Returns True for a test that needs no further case."""


def ask_side_by_side(configs: Sequence[RunConfig], *, margin: float, decide: Decide) -> list[str]:
    """Ask several models the same cases in portions until every test is decided; return the ids of the runs.

    The runs are left unfinished. Each is resumed by its id: in the response store it finds the answers, and after which
    look it stops. The baseline comes first; `margin` is the loss of pass rate that is still called not worse, 0 to 1.
    """
    runs = [begin_run(config, alone=False) for config in configs]
    names, models = [run.id for run in runs], list[dict[str, GradualTest]]()
    try:
        with ExitStack() as context:
            for run in runs:
                context.enter_context(mark_alive(run))
                context.enter_context(run.workers)
            for run in runs:
                samples = load(run)
                cases = perturb(run, samples)
                validate_cases(run, samples, cases)
                models.append(
                    {plan.test: prepare_test(run, plan, cases[plan.test], beside=names) for plan in run.plans}
                )
            looks = _ask_until_compared(models, margin=margin, decide=decide)
            for name in names:
                Store().looks.settle(name, looks, beside=names)
    finally:
        for name in names:
            Store().runs.end(name, "incomplete")
    return names


def _ask_until_compared(models: Models, *, margin: float, decide: Decide) -> dict[str, int]:
    """Return the look at which all models stop, by test; leave out a test that differs between models."""
    total = sum(count_questions(test.cases) for tests in models for test in tests.values())
    title, baseline = f"asking {counted('models', len(models))} side by side", models[0]
    with watch_progress(total, title=title, ended=lambda: "asked side by side") as meter:
        # A test may depend on what a model can do: then the models are not asked the same.
        going = [
            name
            for name, first in baseline.items()
            if not first.is_over
            and all(tests[name].schedule.hashes == first.schedule.hashes for tests in models)
            and all(len(tests[name].schedule.looks) == len(first.schedule.looks) for tests in models)
        ]
        over: list[str] = []
        while going and not _ask_all(models, going, meter):
            over += [name for name in going if decide(_compare(models, name, margin=margin))]
            count_saved(meter, (tests[name] for tests in models for name in over))
            going = [name for name in going if name not in over and not baseline[name].is_over]
    return {name: test.taken for name, test in baseline.items() if test.taken and name not in going}


def _ask_all(models: Models, going: Sequence[str], meter: Meter) -> str | None:
    """Ask each model the next portion of each test; return the reason if one must not be asked further, else None."""
    # Of two models on this machine the loaded one comes first: every second time that is the last one.
    turn, reasons = models[0][going[0]].taken % 2, list[str | None]()
    for tests in reversed(models) if turn else models:
        own = [tests[name] for name in going]
        reasons.append(ask_next_portions(own[0].run, own, meter, stopped=None))
        for test in own:
            test.read_replies(stopped=reasons[-1])
    return next(filter(None, reasons), None)


def _compare(models: Models, name: str, *, margin: float) -> InterimComparison:
    own, tests = [tests[name] for tests in models], len(models[0])
    names, looks = [test.run.id for test in own], own[0].schedule.up_to(own[0].taken)
    rows = align_tables([test.results() for test in own], Looks(shares=looks.shares))
    return InterimComparison(
        pairs=[pair for pair in compare_pairs(rows, names, margin=margin) if pair["second"] == names[0]],
        gates=[test.decide(tests=tests) for test in own],
        rates=[float(np.nanmean(passed)) if np.isfinite(passed).any() else 0.0 for passed in rows.passed],
        wanted=0.0 if rows.noticed else own[0].plan.min_pass_rate,
        tests=tests,
    )


def is_compared(interim: InterimComparison) -> bool:
    """Return True if each model is clearly better, not worse or worse than the baseline."""
    return all(pair["verdict"] != "cannot tell" for pair in interim.pairs)


def is_candidate_decided(interim: InterimComparison) -> bool:
    """Return True if the candidate, the last of the models, clearly is to be held, or may be promoted.

    One that is not worse, and yet seems to miss its own gate, is asked further: it may fail.
    """
    gate = interim.gates[-1]
    failed = gate is not None and gate.missed is not None and gate.missed <= LEVEL / interim.tests
    if failed or any(pair["verdict"] == "worse" for pair in interim.pairs):
        return True
    return is_compared(interim) and interim.rates[-1] >= interim.wanted
