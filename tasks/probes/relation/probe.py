"""The class of tests that you define: cases from two texts, scored by how the answer should behave."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pyarrow as pa

from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.records import CONTROL_KIND, Case, FollowUp, Likelihoods, RelatedTexts, Score, Trial
from contrapose.tasks.core.user_functions import find_function
from contrapose.tasks.language.english import is_english
from contrapose.tasks.probes import choices
from contrapose.tasks.probes.answers.answer_probe import make_change_gates
from contrapose.tasks.probes.answers.settings import DOCUMENTED
from contrapose.tasks.probes.base import Column, Criterion, Embed, Measure, control_of, has_equals
from contrapose.tasks.probes.edits.base import NEEDS_OPTIONS, Edited, TextEdit, make_reworded_control
from contrapose.tasks.probes.panels import Picture
from contrapose.tasks.probes.prompt_settings import prompts_for
from contrapose.tasks.probes.relation import figures
from contrapose.tasks.probes.relation.judging import FUNCTION, RIGHT, score_by_answers, score_by_function
from contrapose.tasks.probes.relation.settings import RelationSettings
from contrapose.tasks.probes.values import GuessedRate, all_or_nothing, get_texts

EXPECTATION = "expectation"
"""Key of a case's details that says what the answer should do."""
VARIANT = "variant"
"""Key of a case's details that names its variant."""


class Relation(TextEdit):
    """A test with your own change; each test that a suite names under `relation` is a subclass with that name."""

    name: ClassVar[str] = "relation"
    version: ClassVar[str] = "1"
    category: ClassVar[str] = "relation"
    summary: ClassVar[str] = "Changes the prompt as your data or function say; the answer should do what you expect."
    sample_type: ClassVar[type[RelatedTexts]] = RelatedTexts
    settings_type: ClassVar[type[RelationSettings]] = RelationSettings
    controlled: ClassVar[bool] = False
    rests_on: ClassVar[tuple[str, ...]] = ("py3langid",)
    default_gate: ClassVar[float] = 0.7
    columns: ClassVar[Mapping[str, Column]] = {**TextEdit.columns, **figures.COLUMNS}
    explanations: ClassVar[Mapping[str, str]] = {**TextEdit.explanations, **figures.EXPLANATIONS}
    labels: ClassVar[Mapping[str, str]] = {**TextEdit.labels, **figures.LABELS}
    skip_reasons: ClassVar[Mapping[str, str]] = {
        **NEEDS_OPTIONS,
        "unchanged": "where the changed text equals the text",
        "edit_skipped": "that the function left out",
        "edit_failed": "on which the function failed",
        "not_english": "in another language, whose open replies only a score function can compare",
        "no_answer": "without a known answer, which this expectation needs",
        "other_options": "with another number of options after the change",
    }

    @property
    def where(self) -> str:
        """Return the key of the test in a configuration; the name includes the category."""
        return f"tests.{self.name}"

    def keeps_answer(self, settings: Any) -> bool:
        """Return whether the answer should stay; for `not_worse`, a right answer should."""
        return settings.expectation in ("stays", "not_worse")

    def shows_guessing(self, settings: Any) -> bool:
        """Return whether the contrast rate, which compares with the controls, has a gate."""
        return bool(settings.expectation == "changes")

    def can_shrink(self, settings: Any) -> bool:
        """Return whether a failed case can be shrunk: a function changes the text, and the answer should stay."""
        return settings.edit is not None and settings.expectation == "stays"

    def edit(self, text: str, settings: RelationSettings, *, rng: random.Random) -> Edited:
        """Return a text changed by the user's function; raise ConfigError if it does not return a text."""
        if settings.edit is None:
            return Edited(reason="edit_skipped")
        function = find_function(settings.edit, where=f"{self.where}.edit")
        try:
            changed = function(text)
        except Exception:
            return Edited(reason="edit_failed")
        if changed is None:
            return Edited(reason="edit_skipped")
        if not isinstance(changed, str):
            raise ConfigError(
                f"{settings.edit} returned {type(changed).__name__}",
                expected="a text, or None to leave the sample out",
                remedy="Correct the function.",
                where=f"{self.where}.edit",
            )
        if not changed.strip() or changed == text:
            return Edited(reason="unchanged" if changed == text else "edit_skipped")
        return Edited(text=changed, confidence="high")

    def change(self, sample: RelatedTexts, settings: RelationSettings, *, rng: random.Random) -> Edited:  # type: ignore[override]
        """Return the changed text from the data or from the user's function."""
        if sample.after is None:
            return self.edit(sample.text, settings, rng=rng)
        same_context = sample.context_after in (None, sample.context)
        if sample.after == sample.text and same_context and sample.options_after in ((), sample.options):
            return Edited(reason="unchanged")
        return Edited(text=sample.after, confidence="high")

    def cases(  # type: ignore[override]
        self, sample: RelatedTexts, settings: RelationSettings, *, rng: random.Random, likelihoods: Likelihoods
    ) -> Sequence[Case]:
        """Return one case with both prompts, or with the reason why the sample is skipped."""
        prompts = prompts_for(sample, settings, where=self.where)
        fields = self.scoring_fields(sample, settings, likelihoods)
        edited = self.change(sample, settings, rng=rng)
        if reason := self._skip_reason(sample, settings, fields["scorer"], edited):
            edited = Edited(reason=reason)
        after = None
        if edited.text is not None:
            changed = prompts.with_options(sample.options_after) if sample.options_after else prompts
            if sample.context_after is not None:
                changed = changed._replace(context=sample.context_after.strip())
            after = changed.prompt(edited.text)
        fields["details"] = {
            **fields["details"],
            EXPECTATION: settings.expectation,
            **({VARIANT: sample.variant} if sample.variant else {}),
        }
        original, perturbed = sample.text, edited.text
        if sample.context_after is not None and sample.context_after != sample.context:
            # People have to see what differs: the context belongs to what is changed.
            original = "\n\n".join(filter(None, (sample.context, original)))
            perturbed = perturbed and f"{sample.context_after}\n\n{perturbed}"
            fields["context"] = None
        case = self.case(
            sample,
            original=original,
            perturbed=perturbed,
            original_prompt=prompts.prompt(sample.text),
            perturbed_prompt=after,
            labels=prompts.labels,
            options_after=sample.options_after if sample.options_after != sample.options else (),
            answers=sample.answers,
            answers_after=sample.answers_after,
            skip_reason=edited.reason,
            confidence=edited.confidence,
            **fields,
        )
        return [case]

    def _skip_reason(self, sample: RelatedTexts, settings: RelationSettings, scorer: str, edited: Edited) -> str | None:
        """Return why a sample cannot be asked or scored; None if it can."""
        if edited.reason:
            return edited.reason
        if has_equals(sample.options) or has_equals(sample.options_after):
            return "equal_options"
        if sample.options_after and len(sample.options_after) != len(sample.options):
            return "other_options"
        if scorer == "choice" and not sample.options:
            return "no_options"
        if scorer == FUNCTION:
            return "no_answer" if settings.expectation == "becomes" and not sample.answers_after else None
        if scorer == RIGHT:
            needed = sample.answers_after if settings.expectation == "becomes" else sample.answers
            return None if needed else "no_answer"
        # The embedding model reads English, and a loss says nothing about another language of the prompt.
        is_open = scorer != "choice" and not (is_english(sample.text) and is_english(edited.text or ""))
        return "not_english" if is_open else None

    def scoring_fields(  # type: ignore[override]
        self, sample: RelatedTexts, settings: RelationSettings, likelihoods: Likelihoods
    ) -> dict[str, Any]:
        """Return the fields on how a case is asked and scored: by function, known answers, or like other edits."""
        own = FUNCTION if settings.score else RIGHT if settings.expectation in ("becomes", "not_worse") else None
        if own is None:
            return super().scoring_fields(sample, settings, likelihoods)
        asked = settings.model_copy(update={"scorer": "choice", "documents_scores": False})
        fields = {**super().scoring_fields(sample, asked, likelihoods), "scorer": own, "loss_of": None}
        count = len(sample.options)
        if own == FUNCTION or not count:
            return {**fields, "asks": "generate", "chance": None}
        # Of not_worse the rate of right answers after the change decides, which knows its own chance.
        return {**fields, "chance": 1 / count if settings.expectation == "becomes" else None}

    def control(  # type: ignore[override]
        self, case: Case, sample: RelatedTexts, settings: RelationSettings, *, rng: random.Random
    ) -> Case | None:
        """Return a control: the text in other words, from the data, or for English text by our rules."""
        if case.perturbed is None:
            return None
        kind, text = "column", sample.control_text
        if text is None and not isinstance(settings.control, str) and is_english(case.original):
            kind, text = make_reworded_control(case.original, rng=rng, options=bool(case.options))
        if text is None or text == case.original:
            return None
        keeps = self.keeps_answer(settings)
        chance = case.chance if case.chance is None or keeps else 1 - case.chance
        if case.scorer == RIGHT and case.options:
            chance = 1 / len(case.options)
        return control_of(
            case,
            perturbed=text,
            prompt=prompts_for(sample, settings, where=self.where).prompt(text),
            chance=chance,
            confidence="high",
            options_after=(),
            details={**case.details, CONTROL_KIND: kind},
        )

    def score(self, trials: Sequence[Trial], settings: RelationSettings, *, embed: Embed) -> list[Score]:
        """Score each trial by how the answer should behave; a control passes if the answer stays."""
        band = settings.band("embedding") or DOCUMENTED
        scores: dict[int, Score] = {}
        for scorer in dict.fromkeys(trial.case.scorer for trial in trials):
            places = [place for place, trial in enumerate(trials) if trial.case.scorer == scorer]
            own = [trials[place] for place in places]
            if scorer == RIGHT:
                judged = score_by_answers(own, settings, embed=embed)
            elif scorer == FUNCTION:
                judged = score_by_function(own, settings, band, where=f"{self.where}.score")
            else:
                judged = super().score(own, settings, embed=embed)
            scores |= zip(places, judged, strict=True)
        return [
            replace(score, columns={**score.columns, **_make_case_columns(trials[place].case)})
            for place, score in sorted(scores.items())
        ]

    def expected_pass(self, part: pa.Table, settings: RelationSettings) -> np.ndarray:
        """Return the result of each row by its score, or its recorded pass if answers or a function decide."""
        scorer = get_texts(part, "scorer")
        own = (scorer == RIGHT) | ((scorer == FUNCTION) & (settings.expectation in ("becomes", "not_worse")))
        return np.where(own, all_or_nothing(part), super().expected_pass(part, settings))

    def follow_ups(self, trials: Sequence[Trial], settings: Any, *, embed: Embed) -> Sequence[FollowUp]:
        """Return questions about the replies that name no one option, and about those that rules read."""
        asked = [] if settings.labels_are_own or settings.score else trials
        return [
            question
            for trial in asked
            if trial.case.options
            for question in choices.ask_about_choices(trial, changed=trial.case.options_after or trial.case.options)
        ]

    def criteria(self, results: pd.DataFrame, settings: RelationSettings) -> Sequence[Criterion]:
        """Return gates that a constant answer or random guessing does not reach."""
        if settings.expectation == "changes":
            return make_change_gates(results, settings)
        if settings.expectation == "stays":
            return figures.make_right_rate_criterion(results, settings)
        return [
            *figures.make_right_after_criterion(results, settings),
            *figures.make_consistency_criterion(results, settings),
        ]

    def guessed_rate(self, results: pd.DataFrame) -> GuessedRate | None:
        """Return the pass rate of the best constant answer, if the answer should become another one; else None."""
        cases = results[~results["control"].to_numpy(dtype=bool)]
        return choices.find_best_constant(cases[cases["expectation"].eq("becomes")])

    def measures(self, results: pd.DataFrame) -> Sequence[Measure]:
        """Return the figures of every edit, right answers before and after, and the consistency of contrast sets."""
        return [*super().measures(results), *figures.yield_relation_measures(results)]

    def picture(self) -> Picture:
        """Return a counter for bars of right answers before and after, and of changed answers."""
        return figures.RelationBars()

    def failure(self, row: Mapping[str, Any]) -> str:
        """Return a sentence on what the answer did, and what it should have done."""
        before, after = row.get("chosen_before"), row.get("chosen_after")
        named = isinstance(before, str) and isinstance(after, str) and before and after
        did = f"It picked {before}, then {after}" if named else "Its answer changed"
        same = f"It picked {before} both times" if named else "Its answer stayed the same"
        wrong = (
            f"It picked {after} after the change, which is wrong." if named else "Its answer after the change is wrong."
        )
        return {
            "stays": f"{did}, though it should stay.",
            "changes": f"{same}, though it should change.",
            "not_worse": "It was right before the change and wrong after it.",
            "becomes": wrong,
        }.get(str(row.get("expectation")), "")


def _make_case_columns(case: Case) -> dict[str, str | None]:
    """Return the columns that come from the case alone."""
    return {
        "expectation": case.details.get(EXPECTATION),
        "variant": case.details.get(VARIANT),
        choices.RIGHT_ANSWER: choices.format_right_answers(case),
    }
