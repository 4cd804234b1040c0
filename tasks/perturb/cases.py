"""Samples into cases, by one probe."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from contrapose.tasks.config import Plan
from contrapose.tasks.probes.base import rng_for
from contrapose.tasks.records import Case, Likelihoods, Sample
from contrapose.tasks.registry import probe


def build_cases(samples: Iterable[Sample], plan: Plan, *, seed: int, likelihoods: Likelihoods) -> Iterator[Case]:
    """The cases of every sample, one after the other; those that cannot be perturbed carry their reason.

    A control, where the plan wants them, follows the cases of its sample and belongs to the first that is asked.

    Args:
        samples: of the probe's sample type.
        plan: the selected test.
        seed: seed of the run; a case depends on it, the sample and the probe alone.
        likelihoods: which log-likelihoods the model gives.
    """
    chosen, settings = probe(plan.test), plan.probe_settings
    for sample in samples:
        rng = rng_for(seed, sample.id, plan.test)
        cases = chosen.cases(sample, settings, rng=rng, likelihoods=likelihoods)
        yield from cases
        asked = next((case for case in cases if case.skip_reason is None), None)
        if plan.control and asked is not None:
            twin = chosen.control(asked, sample, settings, rng=rng_for(seed, sample.id, f"{plan.test}/control"))
            yield from () if twin is None else (twin,)
