"""The setting with which a judge's own prompt offers a tie."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from contrapose.tasks.probes.base import letters
from contrapose.tasks.probes.orders.two_orders import PairSettings
from contrapose.tasks.probes.own_prompt import OwnLabels


class TieSettings(PairSettings):
    """Settings of a prompt that shows two texts and may offer a tie."""

    tie: str | None = Field(
        default=None,
        description="Word with which your prompt lets a judge call a tie. Empty: it offers no tie.",
    )

    @model_validator(mode="after")
    def _check_tie(self) -> Self:
        if self.tie is not None and self.prompt is None:
            raise ValueError("a tie without a prompt of one's own, and ours offers none; expected prompt, too")
        if (own := self.own_labels) is not None:
            own.check()
            single = any(len(label) == 1 and label.isalpha() for label in own.labels)
            if own.pattern is None and own.field is None and single:
                raise ValueError("labels of one letter; expected a pattern, too, since a letter stands in any text")
        return self

    @property
    def own_labels(self) -> OwnLabels | None:
        """Return the labels of the prompt, and its tie, by which replies are read; None where letters are read."""
        own = super().own_labels
        if self.tie is None:
            return own
        labels = (*(self.labels or letters(2)), self.tie)
        return OwnLabels(labels=labels, pattern=self.pattern, field=self.answer_field)
