"""Settings of a test that shows two texts in both orders: how choices are read, and a prompt of one's own."""

from __future__ import annotations

from typing import ClassVar, Self

from pydantic import Field, FiniteFloat, field_validator, model_validator

from contrapose.tasks.core.records import Likelihoods
from contrapose.tasks.probes.base import Embeds
from contrapose.tasks.probes.own_prompt import LETTERS, check_labels, check_template
from contrapose.tasks.probes.read_with import ReadSettings


class TwoOrdersSettings(ReadSettings):
    """Settings of a test that shows two texts in both orders."""

    of_scoring: ClassVar[frozenset[str]] = ReadSettings.of_scoring | {"similarity_threshold", "margin", "calibration"}
    variables: ClassVar[tuple[str, ...]] = ()
    """What a template of one's own may use besides `first`, `second` and `question`."""

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
        description="The same in other words, for the controls of a prompt without {{ question }}; empty: none.",
    )
    labels: tuple[str, str] | None = Field(
        default=None,
        description="What the prompt calls what stands first, and what stands second; empty: A and B.",
    )
    pattern: str | None = Field(
        default=None,
        description="Regular expression whose one group captures a label of the reply; empty: by our rules for A and "
        "B, and for other labels the one that stands in the reply.",
    )
    answer_field: str | None = Field(
        default=None,
        description="Where a reply is JSON: name of the field that holds a label, or a path with points; empty: none.",
    )

    @field_validator("prompt", "reworded")
    @classmethod
    def _usable(cls, template: str | None) -> str | None:
        if template is not None:
            check_template(template, known=(*cls.variables, "first", "second", "question"), needed=("first", "second"))
        return template

    @model_validator(mode="after")
    def _readable(self) -> Self:
        check_labels(self.named, self.pattern, field=self.answer_field)
        if (self.labels_are_own or self.reworded) and not self.prompt:
            raise ValueError(
                "labels, a pattern, a field or other words without a prompt of one's own; expected prompt, too"
            )
        if self.labels_are_own and self.read_with not in ("auto", "reply"):
            raise ValueError(f"read_with {self.read_with} with labels of one's own; expected auto or reply")
        return self

    @property
    def named(self) -> tuple[str, ...]:
        """What the prompt calls what stands first, and what stands second; further labels choose neither."""
        return self.labels or LETTERS

    @property
    def labels_are_own(self) -> bool:
        """Whether replies are read by labels that the prompt names, and not as A and B."""
        return self.pattern is not None or self.answer_field is not None or self.named != LETTERS

    def by_likelihood(self, likelihoods: Likelihoods) -> bool:
        """Whether letters are compared by likelihood."""
        return not self.labels_are_own and super().by_likelihood(likelihoods)

    def asks_back(self, likelihoods: Likelihoods) -> bool:
        """Whether a model is asked about replies that could not be read."""
        return not self.labels_are_own and super().asks_back(likelihoods)

    def embeds(self, likelihoods: Likelihoods) -> Embeds:
        """Any reply that is read may say in other words which summary it means."""
        return "none" if self.labels_are_own or self.by_likelihood(likelihoods) else "all"
