"""item_order: does the answer stay when the items of a list in the prompt change places?"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np
import pandas as pd
import pyarrow as pa

from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.records import READ_BY, Case, FollowUp, ItemSample, Likelihoods, Score, Trial
from contrapose.tasks.probes.answers.case import LOSS_OF, chance_of, expected_pass, scorer_for
from contrapose.tasks.probes.answers.reading import follow_ups
from contrapose.tasks.probes.base import Column, Criterion, Embed, Measure, control_of, spaced
from contrapose.tasks.probes.item_order.figures import EXPLANATIONS, criteria, figures, measures
from contrapose.tasks.probes.item_order.picture import Places
from contrapose.tasks.probes.item_order.score import COLUMNS, details_of, score_lists
from contrapose.tasks.probes.item_order.settings import INTRODUCTION, OTHER_WORDS, ItemOrderSettings, Order
from contrapose.tasks.probes.known_errors import OF_OPTIONS, Measured
from contrapose.tasks.probes.panels import Picture
from contrapose.tasks.probes.read_with import by_likelihood


class ItemOrder:
    """Ask a question about a list in other orders of its items.

    Over all cyclic orders each item stands once at each place, so that a model that reads the list answers as often
    from the first place as from any other.
    """

    name: ClassVar[str] = "item_order"
    category: ClassVar[str] = "robustness"
    version: ClassVar[str] = "4"
    summary: ClassVar[str] = "Reorders a list in the prompt: passages, tools, examples; the answer should stay."
    sample_type: ClassVar[type[ItemSample]] = ItemSample
    settings_type: ClassVar[type[ItemOrderSettings]] = ItemOrderSettings
    bundled_data: ClassVar[str] = "item_lists"
    columns: ClassVar[Mapping[str, Column]] = COLUMNS
    default_gate: ClassVar[float] = 0.7
    gate_basis: ClassVar[str] = ""
    explanations: ClassVar[Mapping[str, str]] = EXPLANATIONS
    without_choice: ClassVar[tuple[str, ...]] = ()
    reader_errors: ClassVar[Sequence[Measured]] = OF_OPTIONS
    controlled: ClassVar[bool] = False
    rests_on: ClassVar[tuple[str, ...]] = ()
    by_default: ClassVar[bool] = False
    skip_reasons: ClassVar[Mapping[str, str]] = {
        "no_list": "without two items",
        "empty": "with a blank text, item or option",
        "equal_items": "with two equal items",
        "equal_options": "with two equal options",
        "no_options": "without answer options",
    }

    @property
    def _where(self) -> str:
        """Its key in a configuration."""
        return f"tests.{self.category}.{self.name}"

    def cases(
        self, sample: ItemSample, settings: ItemOrderSettings, *, rng: random.Random, likelihoods: Likelihoods
    ) -> Sequence[Case]:
        """The given order against each of the others that the settings ask for.

        Raises:
            ConfigError: the settings need log-likelihoods, and the provider gives none; or a prompt of one's own fails,
                or shows no order.
        """
        sample = replace(sample, options=()) if settings.asks_openly else sample
        if len(settings.named(len(sample.options))) < len(sample.options):
            raise ConfigError(
                f"{len(sample.options)} options, and {len(settings.labels or ())} labels",
                expected="a label for every option",
                remedy="Add labels.",
                where=f"{self._where}.labels, sample {sample.id}",
            )
        scorer = scorer_for(sample, settings.scorer, likelihoods=likelihoods, where=f"{self._where}.scorer")
        likely = by_likelihood(settings, likelihoods, where=self._where)
        reason = _skip_reason(sample) or ("no_options" if scorer == "choice" and not sample.options else None)
        documented = settings.documents_scores and likelihoods == "all"
        base = Case(
            id=f"{self.name}/{sample.id}",
            sample_id=sample.id,
            probe=self.name,
            version=self.version,
            original=_shown(sample, settings),
            perturbed=None,
            original_prompt=self._prompt(sample, settings),
            perturbed_prompt=None,
            scorer=scorer,
            asks="choose" if scorer == "choice" and likely else "generate",
            loss_of=LOSS_OF.get(scorer, "expected_result" if documented else None),
            labels=settings.named(len(sample.options)),
            options=sample.options,
            context=sample.context,
            answers=sample.answers,
            skip_reason=reason,
            chance=chance_of(sample, settings, stays=True, by_likelihood=likely) if scorer == "choice" else None,
            slice=sample.slice,
            cluster=sample.cluster,
            details={"likelihoods": likelihoods} | ({READ_BY: "label"} if settings.labels_are_own else {}),
        )
        if reason:
            return [base]
        orders = settings.orders_of(len(sample.items), rng)
        return [self._reordered(base, sample, settings, order, number) for number, order in enumerate(orders, start=1)]

    def _reordered(
        self, base: Case, sample: ItemSample, settings: ItemOrderSettings, order: Order, number: int
    ) -> Case:
        moved = replace(sample, items=tuple(sample.items[place] for place in order))
        prompt = self._prompt(moved, settings)
        if prompt == base.original_prompt:
            raise ConfigError(
                "a prompt that is the same in another order of the items",
                expected="one that shows {{ items }} as they are",
                remedy="Correct the template.",
                where=f"{self._where}.prompt",
            )
        return replace(
            base,
            id=f"{base.id}/{number}",
            perturbed=_shown(moved, settings),
            perturbed_prompt=prompt,
            confidence="high",
            details={**base.details, **details_of(sample, order)},
        )

    def control(
        self, case: Case, sample: ItemSample, settings: ItemOrderSettings, *, rng: random.Random
    ) -> Case | None:
        """The same order, introduced in other words; none where a prompt of one's own has no other words."""
        words = rng.choice(OTHER_WORDS)
        before, after = (f"{said}\n\n{case.original}" for said in (INTRODUCTION, words))
        if settings.prompt is not None:
            settings = settings.model_copy(update={"prompt": settings.reworded or settings.prompt})
        asked = replace(sample, options=case.options)
        prompt = self._prompt(asked, settings, introduction=words)
        if prompt == case.original_prompt:
            return None
        if settings.prompt is not None:
            before, after = case.original_prompt, prompt
        return control_of(
            replace(case, original=before),
            perturbed=after,
            prompt=prompt,
            details={**case.details, **details_of(asked, tuple(range(len(sample.items))))},
        )

    def _prompt(self, sample: ItemSample, settings: ItemOrderSettings, *, introduction: str = INTRODUCTION) -> str:
        return settings.asked(sample, introduction=introduction, where=self._where)

    def score(self, trials: Sequence[Trial], settings: ItemOrderSettings, *, embed: Embed) -> list[Score]:
        """Score each trial by its case's scorer; it passes when the answer stayed."""
        return score_lists(trials, settings, embed=embed)

    def follow_ups(self, trials: Sequence[Trial], settings: ItemOrderSettings, *, embed: Embed) -> Sequence[FollowUp]:
        """Questions about the replies that name no one option, and about those that rules read."""
        return [] if settings.labels_are_own else follow_ups(trials)

    def expected_pass(self, part: pa.Table, settings: ItemOrderSettings) -> np.ndarray:
        """Whether the answer stayed, by the score and the band."""
        return expected_pass(part, settings, stays=True)

    def summarise(self, results: pd.DataFrame) -> Mapping[str, float | int | None]:
        """How many samples keep their answer in all orders, and how the choices were read."""
        return figures(results)

    def picture(self) -> Picture:
        """What became of the answers, and how they depend on places in the list."""
        return Places()

    def criteria(self, results: pd.DataFrame, settings: ItemOrderSettings) -> Sequence[Criterion]:
        """An answer that stays and is right, where the right one is known: whoever always says the same stays too."""
        return criteria(results, settings.min_right_rate)

    def measures(self, results: pd.DataFrame) -> Sequence[Measure]:
        """What changed with the order, accuracy by place of the relevant item, and which places answers come from."""
        return measures(results)


def _shown(sample: ItemSample, settings: ItemOrderSettings) -> str:
    return f"{settings.listed(sample.items)}\n\n{sample.text}"


def _skip_reason(sample: ItemSample) -> str | None:
    items, options = ([spaced(text) for text in texts] for texts in (sample.items, sample.options))
    if len(items) < 2:
        return "no_list"
    if not sample.text.strip() or not all(items) or not all(options):
        return "empty"
    if len(set(items)) < len(items):
        return "equal_items"
    return "equal_options" if len(set(options)) < len(options) else None
