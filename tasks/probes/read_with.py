"""How a choice is read: a setting of every test whose samples have options."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.records import Likelihoods
from contrapose.tasks.probes.base import ProbeSettings

ReadWith = Literal["auto", "likelihood", "ask", "reply"]


class ReadSettings(ProbeSettings):
    """Settings of a test that reads which of several options was chosen."""

    of_scoring: ClassVar[frozenset[str]] = frozenset({"read_with"})

    read_with: ReadWith = Field(
        default="auto",
        description="How a choice is read. likelihood: the likeliest letter; reply: from the reply's text; ask: the "
        "same, and the model, or the run's reader, is asked which option a reply chooses that could not be read; auto: "
        "likelihood where the model gives it, else ask.",
    )

    answer_in_words: int = Field(
        default=50,
        ge=0,
        description="Where letters are compared by likelihood: samples that are also answered in words, to tell how "
        "often the reply says the same; 0: none.",
    )

    def answers_in_words(self, likelihoods: Likelihoods) -> int:
        """How many samples are also answered in words; none where all of them are."""
        return self.answer_in_words if self.by_likelihood(likelihoods) else 0

    def by_likelihood(self, likelihoods: Likelihoods) -> bool:
        """Whether letters are compared by likelihood, of a model that gives these."""
        return self.read_with == "likelihood" or (self.read_with == "auto" and likelihoods != "none")

    def asks_back(self, likelihoods: Likelihoods) -> bool:
        """Whether a model is asked about replies that could not be read."""
        return self.read_with == "ask" or (self.read_with == "auto" and likelihoods == "none")


def by_likelihood(settings: ReadSettings, likelihoods: Likelihoods, *, where: str) -> bool:
    """Whether letters are compared by likelihood.

    Args:
        settings: of the test.
        likelihoods: which of them the model gives.
        where: the test's key in a configuration.

    Raises:
        ConfigError: they are to be, and the model gives none.
    """
    if settings.read_with == "likelihood" and likelihoods == "none":
        raise ConfigError(
            "read_with is 'likelihood', but this model gives no log-likelihoods",
            expected="auto, ask or reply",
            remedy="Set read_with to auto, or run a local model.",
            where=f"{where}.read_with",
        )
    return settings.by_likelihood(likelihoods)
