"""Task: perturb."""

from __future__ import annotations

from contrapose.tasks.perturb.cases import build_cases
from contrapose.tasks.plan import Plan
from contrapose.tasks.policy import room_task
from contrapose.tasks.records import Case, Likelihoods
from contrapose.tasks.registry import probe
from contrapose.tasks.tables import Table, iterate, write


@room_task(
    "perturb",
    sources=(
        "tasks/perturb",
        "tasks/probes",
        "tasks/records.py",
        "tasks/columnar.py",
        "tasks/tables.py",
        "data/lexicons",
    ),
    run_name="perturb {plan.test}",
)
def perturb(plan: Plan, samples: Table, seed: int, likelihoods: Likelihoods) -> Table:
    """Make the cases of one test.

    Args:
        plan: the selected test.
        samples: its samples.
        seed: of the run.
        likelihoods: which log-likelihoods the model gives.
    """
    records = iterate(samples, probe(plan.test).sample_type)
    return write(build_cases(records, plan, seed=seed, likelihoods=likelihoods), Case)
