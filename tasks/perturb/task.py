"""Task: perturb."""

from __future__ import annotations

from contrapose.tasks.config.plan import Plan
from contrapose.tasks.core.policy import room_task
from contrapose.tasks.core.records import Case, Likelihoods
from contrapose.tasks.core.registry import probe
from contrapose.tasks.perturb.cases import build_cases, drawn_in_words
from contrapose.tasks.tables.table import Table, batches, iterate, write


@room_task("perturb", by_name={"probes": "{plan.test}"}, run_name="perturb {plan.test}")
def perturb(plan: Plan, samples: Table, seed: int, likelihoods: Likelihoods) -> Table:
    """Make the cases of one test.

    Args:
        plan: the selected test.
        samples: its samples.
        seed: of the run.
        likelihoods: which log-likelihoods the model gives.
    """
    ids = (name for part in batches(samples, columns=["id"]) for name in part["id"].to_pylist())
    drawn = drawn_in_words(ids, plan, seed=seed, likelihoods=likelihoods)
    records = iterate(samples, probe(plan.test).sample_type)
    return write(build_cases(records, plan, seed=seed, likelihoods=likelihoods, in_words=drawn), Case)
