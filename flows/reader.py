"""Reader of a run: another model that reads the replies which the rules cannot read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.config.plan import Plan
from contrapose.tasks.config.prices import Price
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core.errors import ContraposeError
from contrapose.tasks.core.records import Likelihoods
from contrapose.tasks.core.registry import find
from contrapose.tasks.infer.budget import find_reader_price


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """A model, not the one under test, that says which option an unreadable reply chooses."""

    spec: ModelSpec
    """The model and its settings."""
    identity: Mapping[str, str]
    """What its provider found it to be."""
    price: Price | None
    """What its tokens cost; None where it is unknown."""


def find_reader(config: RunConfig, selected: Sequence[Plan], *, likelihoods: Likelihoods) -> Reader | None:
    """Find the reader that a run may need; None if no test needs one, or the model under test reads.

    Raises ContraposeError if it cannot be found, or the cost is limited and its price is unknown.
    """
    spec = config.reader_spec()
    if spec is None or not any(plan.probe_settings.asks_back(likelihoods) for plan in selected):
        return None
    try:
        identity = find("providers", spec.known_provider)().identity(spec)
    except ContraposeError as error:
        raise reword_for_reader(error) from None
    return Reader(spec=spec, identity=identity, price=find_reader_price(config))


def warn_of_idle_reader(config: RunConfig, *, asked: bool) -> list[str]:
    """Return a warning if a reader is set that no test can use; no error, because a suite serves several models."""
    if asked or not config.reader:
        return []
    return [
        f"reader: {config.reader} is not used, because no test of this run asks a reader. Set read_with to ask, or to "
        "auto with a model that gives no log-probabilities."
    ]


def name_reader_args(text: str) -> str:
    """Return a provider's text with `reader_args` instead of `model_args`, because that is the setting to change."""
    return text.replace("model_args", "reader_args")


def reword_for_reader(error: ContraposeError) -> ContraposeError:
    """Return an error about a model, reworded as an error about the reader."""
    about = error.reworded(name_reader_args)
    about.where = about.where or "reader"
    return about
