"""Everything that can be wrong before a model is asked, checked without an orchestrator."""

from __future__ import annotations

from contrapose.flows.entrance import Run, enter
from contrapose.tasks.config import Plan, RunConfig
from contrapose.tasks.errors import DataError
from contrapose.tasks.load.samples import load_samples
from contrapose.tasks.perturb.cases import build_cases
from contrapose.tasks.records import Case
from contrapose.tasks.registry import probe
from contrapose.tasks.tables import to_arrow


def check(config: RunConfig, *, gates: bool = False) -> list[str]:
    """Find the model, load the samples and make the cases.

    Args:
        config: the run.
        gates: also run the Great Expectations gate on the cases.

    Returns:
        One line per test, for people.

    Raises:
        ContraposeError: the first thing that is wrong.
    """
    run = enter(config)
    return [_check_test(run, plan, gates=gates) for plan in run.plans]


def _check_test(run: Run, plan: Plan, *, gates: bool) -> str:
    loaded = load_samples(plan.data, probe(plan.test).sample_type, limit=plan.limit, seed=run.config.seed)
    cases = build_cases(loaded.samples, plan, seed=run.config.seed, likelihoods=run.provider.likelihoods(run.spec))
    tests = [case for case in cases if not case.control]
    asked = [case for case in tests if case.skip_reason is None]
    if not asked:
        raise _nothing_to_ask(plan, cases)
    if gates:
        from contrapose.tasks.validate.gates import refuse_bad_cases

        refuse_bad_cases(to_arrow(cases, Case), test=plan.test)
    counts = f"rows {loaded.rows}, cases {len(tests)}, to ask {len(asked)}, skipped {len(tests) - len(asked)}"
    controls = f", controls {len(cases) - len(tests)}" if len(cases) > len(tests) else ""
    return f"{plan.test} on {plan.data.source}: {counts}{controls}"


def _nothing_to_ask(plan: Plan, cases: list[Case]) -> DataError:
    reasons = ", ".join(sorted({str(case.skip_reason) for case in cases}))
    return DataError(
        f"none of {len(cases)} samples can be perturbed ({reasons})",
        expected="at least one",
        remedy="Choose other data, or other settings of the test.",
        where=f"{plan.test}, {plan.data.source}",
    )
