"""Prefect tasks that make the cases of a test, at once or in portions that are joined."""

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
    """Make the cases of the samples of one test between two places, the second left out."""
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
    """Ids of the samples that are asked a further question, where their cases are made in portions."""
    return sorted(draw_further_ids(_ids(samples), plan, seed=seed, likelihoods=likelihoods))


@room_task("draw wordings", by_name={"probes": "{plan.test}"}, run_name="draw wordings of {plan.test}")
def draw_wordings(plan: Plan, samples: Table, seed: int) -> list[tuple[int, ...]]:
    """Wordings of each sample, in the order of the samples, where cases are made in portions; empty with one."""
    assigned = assign_wordings(_ids(samples), plan, seed=seed)
    return [assigned[name] for name in _ids(samples)] if assigned else []


@room_task("join cases", run_name="join cases of {test}")
def join_cases(test: str, cases: list[Table]) -> Table:
    """The cases of one test, which were made in portions, in one table."""
    return join_tables(cases, schema_of(Case))


def _ids(samples: Table) -> Iterator[str]:
    return (name for part in batches(samples, columns=["id"]) for name in part["id"].to_pylist())
