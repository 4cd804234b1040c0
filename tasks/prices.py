"""What tokens cost."""

from __future__ import annotations

from dataclasses import dataclass

from contrapose.tasks.records import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """Price of a model's tokens."""

    input: float
    """US dollars per million tokens read."""
    output: float
    """US dollars per million tokens written."""

    def of(self, usage: Usage) -> float:
        """US dollars that some usage costs."""
        return (usage.prompt_tokens * self.input + usage.completion_tokens * self.output) / 1_000_000
