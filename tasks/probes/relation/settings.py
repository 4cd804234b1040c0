"""Settings of your own tests: where the two texts come from, and how the answer should behave."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self, get_args

from pydantic import BeforeValidator, Field, model_validator

from contrapose.tasks.core.records import Likelihoods
from contrapose.tasks.core.user_functions import find_function_version
from contrapose.tasks.core.user_settings import UserSettings
from contrapose.tasks.probes.answers.settings import AnswerSettings
from contrapose.tasks.probes.base import Embeds, Proportion

Expectation = Literal["stays", "changes", "not_worse", "becomes"]
"""How the answer should behave: stay, change, stay right if it was right, or become a known one."""


DEFAULT_RIGHT = 0.7
"""Default gate of the right answers after the change."""


class Becomes(UserSettings):
    """The expectation that the answer becomes the one in a column."""

    becomes: str = Field(min_length=1, description="Column with the right answer to the changed prompt.")


Same = Literal["stays", "changes", "not_worse"]
"""Expectations that name no column."""


def _parse_expectation(value: Any) -> Any:
    """Parse an expectation; the command line writes `becomes=COLUMN`."""
    if isinstance(value, str) and value.startswith("becomes="):
        value = {"becomes": value.partition("=")[2]}
    if isinstance(value, Mapping):
        return Becomes.model_validate(value)
    if isinstance(value, Becomes) or value in get_args(Same):
        return value
    raise ValueError(f"{value!r}; expected stays, changes, not_worse, or becomes: COLUMN")


Expect = Annotated[Same | Becomes, BeforeValidator(_parse_expectation, json_schema_input_type=Same | Becomes)]


class RelationSettings(AnswerSettings):
    """Settings of a change of the prompt, from the data or by a function, and how the answer should behave."""

    of_scoring: ClassVar[frozenset[str]] = AnswerSettings.of_scoring | {"score", "min_right_rate", "min_consistency"}

    before: str | None = Field(
        default=None, description="Column of the unchanged text; empty: found as the text of any test."
    )
    after: str | None = Field(default=None, description="Column of the changed text; empty: `edit` makes it.")
    edit: str | None = Field(
        default=None,
        description="Function that changes the text, as module:function: text to text, or None to skip a sample.",
    )
    expect: Expect = Field(
        default="stays",
        description="What the answer should do. stays: mean the same. changes: differ. not_worse: be right where it "
        "was right before. becomes: COLUMN: be the answer in that column.",
    )
    context_after: str | None = Field(
        default=None, description="Column of the context of the changed text; empty: the context stays."
    )
    options_after: str | None = Field(
        default=None,
        description="Column of the options of the changed text, in the same order; empty: the options stay.",
    )
    variant: str | None = Field(
        default=None,
        description="Column that names the variants of a contrast set. Rows of one cluster are variants of one text, "
        "each with its own answer; the variant that comes first in order is the original.",
    )
    control: bool | str | None = Field(  # type: ignore[assignment]
        default=None,
        description="Column of a text in other words with the same meaning, asked as a control; true: English text in "
        "built-in other words; false: none. Empty: true with changes, else the run's default. Without a control, an "
        "endpoint is asked the same prompts again to show its noise.",
    )
    score: str | None = Field(
        default=None,
        description="Function that compares two replies, as module:function. It returns whether they say the same, or "
        "by how much they differ, which `threshold` then judges. With not_worse: whether the second is no worse, or "
        "by how much it is better. With becomes: whether the reply (first) gives the answer (second).",
    )
    min_right_rate: Proportion | None = Field(
        default=None,
        description="Gate of right answers, where they are known. With not_worse and becomes: share right after the "
        "change, of the samples answered rightly before; empty: min_pass_rate, or 0.7. With stays: share that stays "
        "and is right, which a model that always says the same does not reach; empty: just above random guessing.",
    )

    min_consistency: Proportion | None = Field(
        default=None,
        description="Gate of the share of clusters of a contrast set in which every variant must be answered "
        "correctly; empty: no such gate.",
    )

    @model_validator(mode="after")
    def _check_sources(self) -> Self:
        sources = [name for name in ("after", "edit", "variant") if getattr(self, name)]
        if len(sources) != 1:
            named = " and ".join(sources) or "neither after, edit nor variant"
            raise ValueError(f"{named}; expected one of after (a column), edit (a function) and variant (a column)")
        if self.variant and self.expect != "stays":
            raise ValueError("expect with variant; expected none: each variant has its own answer in the data")
        if self.options_after and not self.after:
            raise ValueError("options_after without after; expected the column of the changed text, too")
        return self

    @property
    def expectation(self) -> Expectation:
        """Return how the answer should behave."""
        if self.variant or isinstance(self.expect, Becomes):
            return "becomes"
        return self.expect

    @property
    def wants_control(self) -> bool | None:
        """Return whether controls are asked: if a column holds controls, or the answer should change."""
        if self.control is None:
            return True if self.expectation == "changes" else None
        return bool(self.control)

    @property
    def right_gate(self) -> float | None:
        """Return the gate of right answers after the change, if it decides (for `not_worse`)."""
        if self.expectation != "not_worse" or self.score:
            return None
        return DEFAULT_RIGHT if self.min_right_rate is None else self.min_right_rate

    def functions(self) -> Mapping[str, str]:
        """Return the user's functions, by setting."""
        return {name: named for name, named in (("edit", self.edit), ("score", self.score)) if named}

    def data_columns(self) -> Mapping[str, str]:
        """Return the columns of the source that the settings name, by our fields."""
        becomes = self.expect.becomes if isinstance(self.expect, Becomes) else None
        named = {
            "text": self.before,
            "after": self.after,
            "context_after": self.context_after,
            "options_after": self.options_after,
            "answer_after": becomes,
            "control": self.control if isinstance(self.control, str) else None,
            "variant": self.variant,
        }
        return {name: column for name, column in named.items() if column}

    def with_gate(self, gate: float) -> Self:
        """Return the settings with this gate for right answers, if they set none."""
        if self.min_right_rate is not None or self.expectation not in ("not_worse", "becomes"):
            return self
        return self.model_copy(update={"min_right_rate": gate})

    def embeds(self, likelihoods: Likelihoods) -> Embeds:
        """Return `none` if the replies are compared by a function or by known answers."""
        if self.score or self.expectation in ("becomes", "not_worse"):
            return "none"
        return super().embeds(likelihoods)

    def versions(self) -> Mapping[str, str]:
        """Return the versions of the user's functions; raise ConfigError if one cannot be imported."""
        return {
            f"{name} {function}": find_function_version(function, where=f"tests.relation: {name}")
            for name, function in self.functions().items()
        }
