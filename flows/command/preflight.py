"""Everything that can be wrong before a model is asked, checked without an orchestrator."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from contrapose.flows.command.writable import unwritable
from contrapose.flows.entrance import Run, enter
from contrapose.flows.gate import refuse_bad_cases
from contrapose.tasks.columnar import batched, to_arrow
from contrapose.tasks.config import Plan, RunConfig
from contrapose.tasks.errors import ConfigError, DataError
from contrapose.tasks.load.samples import Drawing
from contrapose.tasks.perturb.cases import build_cases
from contrapose.tasks.records import Case
from contrapose.tasks.registry import probe
from contrapose.tasks.report.mlflow import require
from contrapose.tasks.validate.wellformed import own_suites

FIRST_ROWS = 2_000
"""Rows of a source that are checked before a run begins; its rooms check the rest."""

PART = 20_000
"""Cases that exist at a time."""


def check(config: RunConfig, *, gates: bool = False) -> list[str]:
    """Find the model, load the samples and make the cases.

    Args:
        config: the run.
        gates: check every row, with the Great Expectations gate on the cases; otherwise a run is about to begin:
            the first rows are enough, unless something is wrong with them, and its folder must be writable.

    Returns:
        One line per test, for people.

    Raises:
        ContraposeError: the first thing that is wrong.
    """
    run = enter(config)
    if config.mlflow:
        require()
    own_suites(config.expectations, run.plans)
    told = [_check_test(run, plan, gates=gates) for plan in run.plans]
    if not gates:
        _require_writable(Path(config.output))
    return told


def _require_writable(folder: Path) -> None:
    if why := unwritable(folder):
        raise ConfigError(
            f"runs cannot be written there ({why})",
            expected="a folder that can be written",
            remedy="Choose another one with --out.",
            where=str(folder),
        )


def _check_test(run: Run, plan: Plan, *, gates: bool) -> str:
    if not gates:
        # What is wrong is told of all rows: how many there are, and which.
        with suppress(DataError):
            return _checked(run, plan, gates=False, most=FIRST_ROWS)
    return _checked(run, plan, gates=gates, most=None)


def _checked(run: Run, plan: Plan, *, gates: bool, most: int | None) -> str:
    kind = probe(plan.test).sample_type
    drawing = Drawing(data=plan.data, sample_type=kind, limit=plan.limit, seed=run.config.seed, most=most)
    likelihoods = run.provider.likelihoods(run.spec)
    cases = build_cases(drawing.samples(), plan, seed=run.config.seed, likelihoods=likelihoods)
    counts = _Counts()
    counted = counts.counting(cases)
    if gates:
        refuse_bad_cases((to_arrow(portion, Case) for portion in batched(counted, PART)), plan, run.config)
    for _ in counted:
        pass
    if not counts.asked:
        raise _nothing_to_ask(plan, counts)
    return f"{plan.test} on {plan.data.source}: rows {drawing.rows}, {counts.told()}"


@dataclass(slots=True)
class _Counts:
    """What became of the samples, case by case."""

    asked: int = 0
    controls: int = 0
    skipped: Counter[str] = field(default_factory=Counter)

    def counting(self, cases: Iterable[Case]) -> Iterator[Case]:
        for case in cases:
            if case.control:
                self.controls += 1
            elif case.skip_reason is None:
                self.asked += 1
            else:
                self.skipped[case.skip_reason] += 1
            yield case

    def told(self) -> str:
        skipped = self.skipped.total()
        controls = f", controls {self.controls}" if self.controls else ""
        return f"cases {self.asked + skipped}, to ask {self.asked}, skipped {skipped}{controls}"


def _nothing_to_ask(plan: Plan, counts: _Counts) -> DataError:
    return DataError(
        f"none of {counts.skipped.total()} samples can be perturbed ({', '.join(sorted(counts.skipped))})",
        expected="at least one",
        remedy="Choose other data, or other settings of the test.",
        where=f"{plan.test}, {plan.data.source}",
    )
