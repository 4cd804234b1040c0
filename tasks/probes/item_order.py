"""The test item_order: change the order of a list in the prompt; the answer should stay."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, Literal, Self

import pandas as pd
from pydantic import Field, model_validator

from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.records import Case, ItemSample, Likelihoods, Score, Trial
from contrapose.tasks.probes.answers.settings import AnswerSettings
from contrapose.tasks.probes.base import (
    Criterion,
    Embed,
    Embeds,
    Proportion,
    control_of,
    has_equals,
    label_options,
    letter_options,
)
from contrapose.tasks.probes.choices import right_rate
from contrapose.tasks.probes.orders.item_places import ItemFigures, Order, make_place_columns, make_place_details
from contrapose.tasks.probes.own_prompt import render_built_in, render_prompt
from contrapose.tasks.probes.prompt_settings import refuse_hidden_parts, refuse_unlabelled_options
from contrapose.tasks.probes.values import numbers

DRAWN = 3
"""Default number of random orders."""
INTRODUCTION = "Here is a list. Answer the question below it."
OTHER_WORDS = (
    "Read this list, then answer the question below it.",
    "Use the list below for the question that follows it.",
    "The question at the end is about this list.",
)
"""Other introductions with the same meaning, for the controls."""
HALF = 0.5
"""The default gate of answers that stay and are right, unless guessing reaches it."""


class ItemOrderSettings(AnswerSettings):
    """Settings of item_order: the orders to ask, the form of the list, and the prompt around it."""

    of_scoring: ClassVar[frozenset[str]] = AnswerSettings.of_scoring | {"min_right_rate"}
    variables: ClassVar[tuple[str, ...]] = ("items", "text", "context", "options")
    """Names that your own prompt may use."""
    needed: ClassVar[tuple[str, ...]] = ("items", "text")
    """Those of them that it must."""
    built_in: ClassVar[str] = "item_order"

    orders: Literal["cyclic", "sample"] = Field(
        default="cyclic",
        description="cyclic: every rotation of the list, so that each item is once at each place. sample: some random "
        "orders, each once.",
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
        default=None, description="A word over each paragraph, followed by its number, such as Passage; empty: none."
    )
    prompt: str | None = Field(
        default=None,
        description="Your own prompt as a Jinja2 template. It needs {{ items }} and {{ text }}, and {{ context }} "
        "where samples have one. Without {{ options }} questions are asked openly. In a suite, `prompt_file` names its "
        "file. Empty: the built-in prompt.",
    )
    reworded: str | None = Field(
        default=None, description="The same in other words, for the controls of a prompt of your own; empty: none."
    )
    min_right_rate: Proportion | None = Field(
        default=None,
        description="Gate of the right rate: share of the cases whose answer must stay and be right. Used where right "
        "answers are known. Empty: 0.5, or a little above guessing or the most frequent right answer if that is more.",
    )

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
        """Return whether your own prompt does not show the options, so that they are left out."""
        if self.prompt is None:
            return False
        shown = {"items": "1. x\n2. y", "text": "Which?", "context": ""}
        some = render_prompt(self.prompt, {**shown, "options": letter_options(("x", "y"))}, where="prompt")
        return some == render_prompt(self.prompt, {**shown, "options": ""}, where="prompt")

    def embeds(self, likelihoods: Likelihoods) -> Embeds:
        """Return `all` if no options are shown; otherwise what the comparison needs."""
        needed = super().embeds(likelihoods)
        return "all" if needed == "without_options" and self.asks_openly else needed

    def list_orders(self, count: int, rng: random.Random) -> list[Order]:
        """Return the further orders in which a list is asked, without duplicates."""
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

    def join_items(self, items: Sequence[str]) -> str:
        """Return the items as the text of a list, in the chosen form.

        In lines an item stays on its own, since a line break could pose as the next item; in paragraphs it has no
        blank line, for the same reason.
        """
        if self.layout == "paragraphs":
            texts = ["\n".join(line for line in item.splitlines() if line.strip()).strip() for item in items]
            if self.heading is not None:
                texts = [f"{self.heading} {number}:\n{item}" for number, item in enumerate(texts, start=1)]
            return "\n\n".join(texts)
        lines = enumerate((" ".join(item.split()) for item in items), start=1)
        return "\n".join(f"{number}. {item}" if self.layout == "numbered" else f"- {item}" for number, item in lines)


class ItemOrder(ItemFigures):
    """Ask a question about a list with its items in other orders.

    In all cyclic orders each item is once at each place, so that a model that reads the list answers equally often from
    every place.
    """

    name: ClassVar[str] = "item_order"
    version: ClassVar[str] = "5"
    summary: ClassVar[str] = "Reorders a list in the prompt: passages, tools, examples; the answer should stay."
    sample_type: ClassVar[type[ItemSample]] = ItemSample
    settings_type: ClassVar[type[ItemOrderSettings]] = ItemOrderSettings
    bundled_data: ClassVar[str] = "item_lists"
    skip_reasons: ClassVar[Mapping[str, str]] = {
        "no_list": "without two items",
        "empty": "with a blank text, item or option",
        "equal_items": "with two equal items",
        "equal_options": "with two equal options",
        "no_options": "without answer options",
    }

    def cases(
        self, sample: ItemSample, settings: ItemOrderSettings, *, rng: random.Random, likelihoods: Likelihoods
    ) -> Sequence[Case]:
        """Return a case for each further order, to compare it with the given order."""
        sample = replace(sample, options=()) if settings.asks_openly else sample
        labels = settings.first_labels(len(sample.options))
        refuse_unlabelled_options(len(sample.options), labels, where=f"{self.where}.labels, sample {sample.id}")
        fields = self.scoring_fields(sample, settings, likelihoods)
        reason = _skip_reason(sample) or ("no_options" if fields["scorer"] == "choice" and not sample.options else None)
        base = self.case(
            sample,
            original=f"{settings.join_items(sample.items)}\n\n{sample.text}",
            perturbed=None,
            original_prompt=self._prompt(sample, settings),
            perturbed_prompt=None,
            labels=labels,
            answers=sample.answers,
            skip_reason=reason,
            **fields,
        )
        if reason:
            return [base]
        cases = []
        for number, order in enumerate(settings.list_orders(len(sample.items), rng), start=1):
            moved = replace(sample, items=tuple(sample.items[place] for place in order))
            prompt = self._prompt(moved, settings)
            if prompt == base.original_prompt:
                raise ConfigError(
                    "the prompt is the same in another order of the items",
                    expected="a prompt that shows {{ items }} unchanged",
                    remedy="Add {{ items }} to the template, without filters.",
                    where=f"{self.where}.prompt",
                )
            shown, details = f"{settings.join_items(moved.items)}\n\n{sample.text}", make_place_details(sample, order)
            changed = replace(base, id=f"{base.id}/{number}", perturbed=shown, perturbed_prompt=prompt)
            cases.append(replace(changed, confidence="high", details={**base.details, **details}))
        return cases

    def control(
        self, case: Case, sample: ItemSample, settings: ItemOrderSettings, *, rng: random.Random
    ) -> Case | None:
        """Return a control: the same order with another introduction; None if your own prompt has no other wording."""
        own = choose_introduction(settings.wording)
        words = rng.choice([other for other in (INTRODUCTION, *OTHER_WORDS) if other != own])
        before, after = (f"{said}\n\n{case.original}" for said in (own, words))
        if settings.prompt is not None:
            settings = settings.model_copy(update={"prompt": settings.reworded or settings.prompt})
        asked = replace(sample, options=case.options)
        prompt = self._prompt(asked, settings, introduction=words)
        if prompt == case.original_prompt:
            return None
        if settings.prompt is not None:
            before, after = case.original_prompt, prompt
        details = {**case.details, **make_place_details(asked, tuple(range(len(sample.items))))}
        return control_of(replace(case, original=before), perturbed=after, prompt=prompt, details=details)

    def _prompt(self, sample: ItemSample, settings: ItemOrderSettings, *, introduction: str | None = None) -> str:
        """Return the prompt with the items in this order, from the suite's template if it has one."""
        shown = {"items": settings.join_items(sample.items), "context": (sample.context or "").strip()}
        if settings.prompt is None:
            block = letter_options(sample.options) if sample.options else ""
            said = introduction or choose_introduction(settings.wording)
            own = {"introduction": said, "text": sample.text, "options": block}
            return render_built_in("item_order", shown | own, wording=settings.wording, where=self.where)
        where = f"{self.where}.prompt"
        refuse_hidden_parts(sample, settings.prompt, names=("context",), where=f"{where}, sample {sample.id}")
        options = label_options(sample.options, settings.first_labels(len(sample.options)))
        return render_prompt(settings.prompt, shown | {"text": sample.text.strip(), "options": options}, where=where)

    def score(self, trials: Sequence[Trial], settings: ItemOrderSettings, *, embed: Embed) -> list[Score]:
        """Score each trial with the scorer of its case; it passes if the answer stayed."""
        scores = super().score(trials, settings, embed=embed)
        return [
            replace(score, columns={**score.columns, **make_place_columns(trial, score.columns)})
            for trial, score in zip(trials, scores, strict=True)
        ]

    def criteria(self, results: pd.DataFrame, settings: ItemOrderSettings) -> Sequence[Criterion]:
        """Return the gate on answers that stay and are right, because a constant answer also stays."""
        right = numbers(results["right_before"]), numbers(results["right_after"])
        kept = 1 - numbers(results["answer_changed"])
        return right_rate(results, kept, *right, wanted=settings.min_right_rate, least=HALF)


def choose_introduction(wording: int) -> str:
    """Return the sentence before the list, in one of our own wordings, by number from 1."""
    return (INTRODUCTION, *OTHER_WORDS)[(wording - 1) % (1 + len(OTHER_WORDS))]


def _skip_reason(sample: ItemSample) -> str | None:
    if len(sample.items) < 2:
        return "no_list"
    if not all(text.strip() for text in (sample.text, *sample.items, *sample.options)):
        return "empty"
    return "equal_items" if has_equals(sample.items) else "equal_options" if has_equals(sample.options) else None
