"""A run whose replies may need the embedding model is refused where there is none, before anything is asked."""

from __future__ import annotations

from collections.abc import Sequence

from contrapose.tasks.config.plan import Plan
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.records import Likelihoods
from contrapose.tasks.core.registry import probe
from contrapose.tasks.evaluate.embeddings import located
from contrapose.tasks.load.samples import Drawing


def refuse_unreadable(config: RunConfig, selected: Sequence[Plan], *, likelihoods: Likelihoods) -> None:
    """Refuse a run whose replies would be paid for, and then could not be read.

    Args:
        config: the run.
        selected: its tests.
        likelihoods: which of them the model gives.

    Raises:
        ConfigError: a test may read a reply by embedding, and the embedding model is missing.
        DataError: the model is missing, and the data that tell whether it is needed cannot be read.
    """
    try:
        located(config.embedding_model)
    except ConfigError as error:
        readers = [plan.test for plan in selected if _embeds(plan, likelihoods, seed=config.seed)]
        if readers:
            expected = f"the embedding model, with which {' and '.join(readers)} may have to read replies"
            raise ConfigError(error.found, expected=expected, remedy=error.remedy, where=error.where) from None


def _embeds(plan: Plan, likelihoods: Likelihoods, *, seed: int) -> bool:
    """Whether a reply may be read by embedding; the data are looked at only where that hangs on options."""
    samples = plan.probe_settings.embeds(likelihoods)
    if samples != "without_options":
        return samples == "all"
    drawing = Drawing(data=plan.data, sample_type=probe(plan.test).sample_type, limit=plan.limit, seed=seed)
    return any(not sample.options for sample in drawing.samples())
