"""The add_negation probe: a model that understands the prompt answers its opposite differently."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import ClassVar

import pandas as pd

from contrapose.tasks.errors import ConfigError
from contrapose.tasks.probes.base import ColumnType, Embed, control_of, letters, with_options
from contrapose.tasks.probes.negation.control import control_text
from contrapose.tasks.probes.negation.engine import negate
from contrapose.tasks.probes.negation.scores import score_trials
from contrapose.tasks.probes.negation.second_opinion import parser, seconded
from contrapose.tasks.probes.negation.settings import AddNegationSettings
from contrapose.tasks.records import Case, LossOf, Score, TextSample, Trial

_LOSS_OF: dict[str, LossOf] = {"loss": "expected_result", "langtest_loss": "prompt"}


class AddNegation:
    """Reverses the prompt with one negation; passes when the answer changes."""

    name: ClassVar[str] = "add_negation"
    category: ClassVar[str] = "sensitivity"
    version: ClassVar[str] = "2"
    summary: ClassVar[str] = "Adds one negation that reverses the prompt; the answer should change."
    sample_type: ClassVar[type[TextSample]] = TextSample
    settings_type: ClassVar[type[AddNegationSettings]] = AddNegationSettings
    bundled_data: ClassVar[str] = "negation"
    columns: ClassVar[Mapping[str, ColumnType]] = {
        "chosen_before": "string",
        "chosen_after": "string",
        "right_before": "bool",
        "js_divergence": "float",
    }
    chance: ClassVar[float | None] = None

    def cases(
        self, sample: TextSample, settings: AddNegationSettings, *, rng: random.Random, likelihoods: bool
    ) -> Sequence[Case]:
        """The sample's text and its negation as prompts; nothing in it is random.

        Raises:
            ConfigError: the scorer needs log-likelihoods, and the provider gives none; or there is no second opinion.
        """
        scorer = _scorer(sample, settings, likelihoods=likelihoods)
        negation = negate(
            sample.text,
            style=settings.style,
            existing_negation=settings.existing_negation,
            rewrite_polar=settings.rewrite_polar,
        )
        if settings.second_opinion == "spacy":
            negation = seconded(sample.text, negation, parser(settings.spacy_model))
        no_options = scorer == "choice" and not sample.options
        perturbed = None if no_options else negation.text
        original = sample.text if no_options else negation.original
        case = Case(
            id=f"{self.name}/{sample.id}",
            sample_id=sample.id,
            probe=self.name,
            version=self.version,
            original=original,
            perturbed=perturbed,
            original_prompt=with_options(original, sample.options),
            perturbed_prompt=None if perturbed is None else with_options(perturbed, sample.options),
            scorer=scorer,
            asks="choose" if scorer == "choice" and likelihoods else "generate",
            loss_of=_LOSS_OF.get(scorer),
            labels=letters(len(sample.options)),
            options=sample.options,
            skip_reason="no_options" if no_options else negation.reason,
            confidence=None if no_options else negation.confidence,
            slice=sample.slice,
            cluster=sample.cluster,
            details={} if sample.answer is None else {"answer": sample.answer},
        )
        return [case]

    def control(
        self, case: Case, sample: TextSample, settings: AddNegationSettings, *, rng: random.Random
    ) -> Case | None:
        """An adverb that changes nothing in place of the negation, such as "is indeed" for "is not"."""
        if case.perturbed is None:
            return None
        text, confidence = control_text(case.original, case.perturbed, rng=rng)
        return control_of(case, perturbed=text, prompt=with_options(text, sample.options), confidence=confidence)

    def score(self, trials: Sequence[Trial], settings: AddNegationSettings, *, embed: Embed) -> list[Score]:
        """Score each trial by its case's scorer."""
        return score_trials(trials, settings, embed=embed)

    def summarise(self, results: pd.DataFrame) -> Mapping[str, float | int | None]:
        """Mean eval_score per scorer; with options, how often the choice changed and was right before."""
        figures: dict[str, float | int | None] = {}
        if {"scorer", "eval_score"} <= set(results.columns):
            scores = pd.to_numeric(results["eval_score"], errors="coerce")
            for scorer, mean in scores.groupby(results["scorer"].astype(str)).mean().items():
                figures[f"mean_eval_score_{scorer}"] = None if pd.isna(mean) else float(mean)
        return figures | _choices(results)


def _scorer(sample: TextSample, settings: AddNegationSettings, *, likelihoods: bool) -> str:
    if settings.scorer == "auto":
        return "choice" if sample.options else "loss" if likelihoods else "embedding"
    if settings.scorer in _LOSS_OF and not likelihoods:
        raise ConfigError(
            f"scorer {settings.scorer!r} with a provider that gives no log-likelihoods",
            expected="a scorer that works on replies alone",
            remedy="Use scorer 'embedding', or 'choice' for samples with options.",
            where="tests.sensitivity.add_negation.scorer",
        )
    return settings.scorer


def _choices(results: pd.DataFrame) -> dict[str, float | int | None]:
    if not {"chosen_before", "chosen_after"} <= set(results.columns):
        return {}
    read = results.dropna(subset=["chosen_before", "chosen_after"])
    if read.empty:
        return {}
    figures: dict[str, float | int | None] = {
        "choices": len(read),
        "choice_changed": float((read["chosen_before"] != read["chosen_after"]).mean()),
    }
    if "right_before" in read.columns:
        known = read["right_before"].dropna()
        figures["right_before"] = float(known.astype(bool).mean()) if len(known) else None
    return figures
