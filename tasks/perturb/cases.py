"""Samples into cases, by one probe."""

from __future__ import annotations

from collections.abc import Sequence

from contrapose.tasks.config import Plan
from contrapose.tasks.probes.base import rng_for
from contrapose.tasks.records import Case, Sample
from contrapose.tasks.registry import probe


def build_cases(samples: Sequence[Sample], plan: Plan, *, seed: int, likelihoods: bool) -> list[Case]:
    """One case per sample, in order; those that cannot be perturbed carry their reason.

    Args:
        samples: of the probe's sample type.
        plan: the selected test.
        seed: seed of the run; a case depends on it, the sample and the probe alone.
        likelihoods: whether the model's provider gives log-likelihoods.
    """
    chosen, settings = probe(plan.test), plan.probe_settings
    return [
        chosen.case(sample, settings, rng=rng_for(seed, sample.id, plan.test), likelihoods=likelihoods)
        for sample in samples
    ]
