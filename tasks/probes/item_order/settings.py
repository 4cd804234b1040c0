"""Settings of item_order: which orders are asked, how the list is written, and the prompt around it."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Sequence
from typing import ClassVar, Literal, Self

from pydantic import Field, FiniteFloat, field_validator, model_validator

from contrapose.tasks.core.records import ItemSample, Likelihoods
from contrapose.tasks.probes.answers.settings import AnswerSettings
from contrapose.tasks.probes.base import Embeds, lettered, marked
from contrapose.tasks.probes.own_prompt import check_template, rendered
from contrapose.tasks.probes.prompt_settings import refuse_hidden
from contrapose.tasks.probes.templates import default_prompt

Order = tuple[int, ...]
"""Which item stands at each place, by its place in the given order, from 0."""
DRAWN = 3
"""Orders that are drawn where nobody says how many."""
INTRODUCTION = "Here is a list. Answer the question below it."
OTHER_WORDS = (
    "Read this list, then answer the question below it.",
    "Use the list below for the question that follows it.",
    "The question at the end is about this list.",
)
"""What may stand for the introduction and means the same: the controls."""


class ItemOrderSettings(AnswerSettings):
    """Settings of item_order, besides how two answers are compared."""

    of_scoring: ClassVar[frozenset[str]] = AnswerSettings.of_scoring | {"min_right_rate"}
    variables: ClassVar[tuple[str, ...]] = ("items", "text", "context", "options")
    """Names that a prompt of one's own may use."""
    needed: ClassVar[tuple[str, ...]] = ("items", "text")
    """Those of them that it must."""

    orders: Literal["cyclic", "sample"] = Field(
        default="cyclic",
        description="cyclic: every rotation of the list, in which each item stands once at each place; sample: some "
        "orders, drawn by the seed, none of them twice.",
    )
    count: int | None = Field(
        default=None,
        ge=1,
        le=1000,
        description=f"Of orders: sample, how many are drawn for a sample, if it has as many; empty: {DRAWN}.",
    )
    layout: Literal["numbered", "bullets", "paragraphs"] = Field(
        default="numbered",
        description="How the list is written: numbered or bullets, an item a line; paragraphs, with a blank line "
        "between two of them. Numbers belong to places, and do not move with the items.",
    )
    heading: str | None = Field(
        default=None,
        description="A word over each paragraph, followed by its number, such as Passage; empty: none.",
    )
    prompt: str | None = Field(
        default=None,
        description="Template of a prompt of your own (Jinja2), with {{ items }} and {{ text }}, {{ context }} where "
        "samples have one, and {{ options }} if it wants them: without, questions with options are asked openly; in a "
        "suite, `prompt_file` names its file. Empty: our own.",
    )
    reworded: str | None = Field(
        default=None, description="The same in other words, for the controls of a prompt of your own; empty: none."
    )
    min_right_rate: FiniteFloat | None = Field(
        default=None,
        ge=0,
        le=1,
        description="Share of the cases whose answer must stay and be right, where the right one is known; empty: half "
        "of them, or where guessing reaches that, a tenth of the way from it to 1.",
    )

    @field_validator("prompt", "reworded")
    @classmethod
    def _usable(cls, template: str | None) -> str | None:
        if template is not None:
            check_template(template, known=cls.variables, needed=cls.needed)
        return template

    @model_validator(mode="after")
    def _fit_together(self) -> Self:
        if self.count is not None and self.orders == "cyclic":
            raise ValueError("a count of orders that are cyclic; expected orders: sample, too")
        if self.heading is not None and self.layout != "paragraphs":
            raise ValueError(f"a heading of {self.layout}; expected layout: paragraphs, too")
        if self.heading is not None and not re.fullmatch(r"\S(?:[^\r\n]*\S)?", self.heading):
            raise ValueError(f"heading {self.heading!r}; expected a word or two on one line")
        if self.reworded is not None and self.prompt is None:
            raise ValueError("other words without a prompt of one's own; expected prompt, too")
        return self

    @property
    def asks_openly(self) -> bool:
        """Whether options are left out, because a prompt of one's own does not show them."""
        if self.prompt is None:
            return False
        shown = {"items": "1. x\n2. y", "text": "Which?", "context": ""}
        some = rendered(self.prompt, {**shown, "options": lettered(("x", "y"))}, where="prompt")
        return some == rendered(self.prompt, {**shown, "options": ""}, where="prompt")

    def embeds(self, likelihoods: Likelihoods) -> Embeds:
        """All replies where no options are shown, and otherwise as the comparison needs it."""
        needed = super().embeds(likelihoods)
        return "all" if needed == "without_options" and self.asks_openly else needed

    def orders_of(self, count: int, rng: random.Random) -> list[Order]:
        """The orders in which a list is asked besides the given one, none of them twice.

        Args:
            count: items of the list.
            rng: draws orders; cyclic ones take nothing from it.
        """
        if self.orders == "cyclic":
            return [(*range(by, count), *range(by)) for by in range(1, count)]
        most = min(self.count or DRAWN, math.factorial(count) - 1)
        given_order = tuple(range(count))
        drawn_orders: dict[Order, None] = {}
        while len(drawn_orders) < most:
            order = tuple(rng.sample(given_order, count))
            if order != given_order:
                drawn_orders[order] = None
        return list(drawn_orders)

    def listed(self, items: Sequence[str]) -> str:
        """Items as people and models read them.

        In lines an item stays on its own, since a line break could pose as the next item; in paragraphs it has no
        blank line, for the same reason.
        """
        if self.layout == "paragraphs":
            texts = ["\n".join(line for line in item.splitlines() if line.strip()).strip() for item in items]
            if self.heading is not None:
                texts = [f"{self.heading} {number}:\n{item}" for number, item in enumerate(texts, start=1)]
            return "\n\n".join(texts)
        lines = [" ".join(item.split()) for item in items]
        marked = (
            f"{number}. {item}" if self.layout == "numbered" else f"- {item}" for number, item in _numbered(lines)
        )
        return "\n".join(marked)

    def asked(self, sample: ItemSample, *, introduction: str, where: str) -> str:
        """The prompt about a sample with its items in their order, by the suite's own template if it has one.

        Args:
            sample: the question and its list.
            introduction: of our own prompt.
            where: the test's key in a configuration.

        Raises:
            ConfigError: the template fails on these values, or does not show the sample's context.
        """
        shown = {"items": self.listed(sample.items), "context": (sample.context or "").strip()}
        if self.prompt is None:
            block = lettered(sample.options) if sample.options else ""
            own = {"introduction": introduction, "text": sample.text, "options": block}
            return default_prompt("item_order").fill(shown | own)
        refuse_hidden(sample, self.prompt, names=("context",), where=f"{where}.prompt, sample {sample.id}")
        options = marked(sample.options, self.named(len(sample.options)))
        return rendered(self.prompt, shown | {"text": sample.text.strip(), "options": options}, where=f"{where}.prompt")


def _numbered(lines: Sequence[str]) -> Sequence[tuple[int, str]]:
    return list(enumerate(lines, start=1))
