"""Settings of the tests that compare two answers."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, FiniteFloat, field_validator

from contrapose.tasks.probes.base import ProbeSettings

Scorer = Literal["auto", "embedding", "loss", "choice", "langtest_loss"]


class AnswerSettings(ProbeSettings):
    """How two answers are compared, and when they count as different."""

    threshold: tuple[FiniteFloat, FiniteFloat] = Field(
        default=(-0.2, 0.2),
        description="Scores inside this closed interval (lower, upper) mean that the answer stayed the same.",
    )
    scorer: Scorer = Field(
        default="auto",
        description="How answers are compared; auto: choice with options, else loss, else embedding.",
    )

    @field_validator("threshold")
    @classmethod
    def _in_order(cls, value: tuple[float, float]) -> tuple[float, float]:
        lower, upper = value
        if lower >= upper:
            raise ValueError(f"threshold ({lower}, {upper}) is reversed; expected (lower, upper) with lower < upper")
        return value
