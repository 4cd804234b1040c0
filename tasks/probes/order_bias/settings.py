"""Settings of a test that shows two texts in both orders."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field, FiniteFloat

from contrapose.tasks.core.records import Likelihoods
from contrapose.tasks.probes.base import Embeds
from contrapose.tasks.probes.prompt_settings import RewordedSettings


class TwoOrdersSettings(RewordedSettings):
    """How one of two texts is chosen, and a prompt of one's own that shows them."""

    of_scoring: ClassVar[frozenset[str]] = RewordedSettings.of_scoring | {
        "similarity_threshold",
        "margin",
        "calibration",
    }
    variables: ClassVar[tuple[str, ...]] = ("first", "second", "question")
    one_is_right: ClassVar[bool] = True
    """Whether exactly one of the two can be right: who calls the one wrong then chooses the other."""
    needed: ClassVar[tuple[str, ...]] = ("first", "second")

    similarity_threshold: FiniteFloat = Field(
        default=0.85, ge=0, le=1, description="Smallest cosine at which a reply in other words means one of the texts."
    )
    margin: FiniteFloat = Field(default=0.05, ge=0, le=1, description="Smallest lead in cosine over the other text.")
    calibration: FiniteFloat = Field(
        default=0.2,
        gt=0,
        lt=1,
        description="Share of the pairs from which the letters' own pull is learned, to be taken out of the others.",
    )
    prompt: str | None = Field(
        default=None,
        description="Template of a prompt of your own (Jinja2), with {{ first }} and {{ second }}, and what else of a "
        "sample and {{ question }} it wants; in a suite, `prompt_file` names its file. Empty: our own.",
    )
    reworded: str | None = Field(
        default=None,
        description="The same in other words, for the controls of a prompt without {{ question }}; in a suite, "
        "`reworded_file` names its file. Empty: no controls then.",
    )
    labels: tuple[str, str] | None = Field(
        default=None,
        description="What the prompt calls what stands first, and what stands second; empty: A and B.",
    )

    def embeds(self, likelihoods: Likelihoods) -> Embeds:
        """Any reply that is read may say in other words which text it means."""
        return "none" if self.labels_are_own or self.by_likelihood(likelihoods) else "all"
