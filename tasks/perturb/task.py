"""Prefect tasks that make the cases of a test: all at once, or in portions that are then joined."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from contrapose.tasks.config.plan import Plan
from contrapose.tasks.core.policy import room_task
from contrapose.tasks.core.records import Case, Likelihoods
from contrapose.tasks.core.registry import probe
from contrapose.tasks.perturb.cases import build_cases, draw_further_ids
from contrapose.tasks.perturb.wordings import assign_wordings
from contrapose.tasks.tables.columnar import schema_of
from contrapose.tasks.tables.table import ROWS, Table, batches, iterate, join_tables, read_rows, write


@room_task("perturb", by_name={"probes": "{plan.test}"}, run_name="perturb {plan.test}")
def perturb(plan: Plan, samples: Table, seed: int, likelihoods: Likelihoods) -> Table:
    """Make the cases of one test."""
    drawn = draw_further_ids(_ids(samples), plan, seed=seed, likelihoods=likelihoods)
    records, wordings = iterate(samples, probe(plan.test).sample_type), assign_wordings(_ids(samples), plan, seed=seed)
    cases = build_cases(records, plan, seed=seed, likelihoods=likelihoods, besides=drawn, wordings=wordings)
    return write(cases, Case)


@room_task("perturb a portion", by_name={"probes": "{plan.test}"}, run_name="perturb {plan.test} from {rows[0]}")
def perturb_portion(
    plan: Plan,
    samples: Table,
    rows: tuple[int, int],
    besides: list[str],
    seed: int,
    likelihoods: Likelihoods,
    wordings: list[tuple[int, ...]],
) -> Table:
    """Make the cases of one test for the samples of `rows`: from the first place up to the second, exclusive."""
    first, end = rows
    kind = probe(plan.test).sample_type
    parts = (read_rows(samples, kind, first=start, end=min(start + ROWS, end)) for start in range(first, end, ROWS))
    records = (sample for part in parts for sample in part)
    own = dict(zip(islice(_ids(samples), first, end), wordings, strict=False))
    drawn = frozenset(besides)
    cases = build_cases(records, plan, seed=seed, likelihoods=likelihoods, besides=drawn, wordings=own)
    return write(cases, Case)


@room_task("draw samples for a further question", by_name={"probes": "{plan.test}"}, run_name="draw for {plan.test}")
def draw_besides(plan: Plan, samples: Table, seed: int, likelihoods: Likelihoods) -> list[str]:
    """Return the ids of the samples that get one more question, for cases that are made in portions."""
    return sorted(draw_further_ids(_ids(samples), plan, seed=seed, likelihoods=likelihoods))


@room_task("draw wordings", by_name={"probes": "{plan.test}"}, run_name="draw wordings of {plan.test}")
def draw_wordings(plan: Plan, samples: Table, seed: int) -> list[tuple[int, ...]]:
    """Return the wordings of each sample in order, for cases made in portions; empty if the test has one wording."""
    assigned = assign_wordings(_ids(samples), plan, seed=seed)
    return [assigned[name] for name in _ids(samples)] if assigned else []


@room_task("join cases", run_name="join cases of {test}")
def join_cases(test: str, cases: list[Table]) -> Table:
    """Join the portions of the cases of one test into one table."""
    return join_tables(cases, schema_of(Case))


def _ids(samples: Table) -> Iterator[str]:
    return (name for part in batches(samples, columns=["id"]) for name in part["id"].to_pylist())
