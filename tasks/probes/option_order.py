"""The test option_order: the options of a question change letters; the choice should follow the option."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import pandas as pd
from pydantic import Field

from contrapose.tasks.core.outcome import Outcome
from contrapose.tasks.core.records import Case, Completion, FollowUp, Likelihoods, Score, Side, TextSample, Trial
from contrapose.tasks.probes import choices
from contrapose.tasks.probes.base import (
    Column,
    Criterion,
    Embed,
    Measure,
    Probe,
    Proportion,
    Value,
    control_of,
    has_equals,
    letters,
    unscored_score,
)
from contrapose.tasks.probes.choices import (
    RIGHT_RATE,
    Choice,
    make_asking_keys,
    make_read_columns,
    read_choice,
    right_rate,
    step_of,
)
from contrapose.tasks.probes.known_errors import OF_OPTIONS, MeasuredErrors, measure_steps
from contrapose.tasks.probes.own_prompt import OwnLabels
from contrapose.tasks.probes.panels import Bars, Panel, Picture, shares, state_pattern
from contrapose.tasks.probes.prompt_settings import RewordedSettings, prompts_for
from contrapose.tasks.probes.values import numbers, where

NO_CHOICE = ("unparsed", "tied")
"""Outcomes of a pair without two choices, where a reply names no option or two letters are as likely: it fails, and a
verdict leaves it open."""


def rotate_options(options: Sequence[str], by: int) -> tuple[str, ...]:
    """Return the options moved `by` places to the left; options from the front go to the end."""
    return (*options[by:], *options[:by])


def score_order_trial(trial: Trial, own: OwnLabels | None = None) -> Score:
    """Score a trial: it passes if both replies choose the same option; a control passes if the choice stayed."""
    case, replies = trial.case, (trial.expected, trial.actual)
    orders = case.options, rotate_options(case.options, int(case.details["rotation"]))
    labels, answers = letters(len(case.options)), {answer.strip() for answer in case.answers}
    first, second = (
        None if _is_tied(reply) else read_choice(reply, labels=labels, options=options, own=own)
        for reply, options in zip(replies, orders, strict=True)
    )
    weighed = [reply.option_loglikelihoods for reply in replies if reply.option_loglikelihoods is not None]
    if not all(values and all(map(math.isfinite, values)) for values in weighed):
        return unscored_score("The log-likelihoods of the letters are not all numbers.")
    if case.control and first is None and second is None:
        return unscored_score("Neither reply names one option.")
    if any(map(_is_tied, replies)):
        outcome = "tied"
    elif first is None or second is None:
        outcome = "unparsed"
    elif orders[0][first.index] == orders[1][second.index]:
        outcome = "text"
    else:
        outcome = "letter" if first.index == second.index else "other"
    columns: dict[str, Value] = {
        "option_count": len(case.options),
        "rotation": int(case.details["rotation"]),
        "outcome": None if case.control else outcome,
        choices.RIGHT_ANSWER: choices.format_right_answers(case, letters_move=True),
        **make_read_columns(trial, labels[first.index] if first else None, changed=orders[1]),
    }
    shown: list[str | None] = []
    for prefix, choice, options, reply in zip(("", "rotated_"), (first, second), orders, replies, strict=True):
        letter, option = (labels[choice.index], options[choice.index]) if choice else (None, None)
        columns[f"{prefix}choice"] = option
        columns[f"{prefix}choice_step"] = step_of(reply, choice)
        columns[f"{prefix}letter"] = letter
        columns[f"{prefix}correct"] = option is not None and option.strip() in answers if answers else None
        # A choice by likelihood is shown as people read it; a reply stays as it was written.
        shown.append(f"{letter}. {option}" if option and reply.option_loglikelihoods is not None else None)
    return Score(
        value=float(outcome == "text"),
        passed=outcome == "text",
        reason=_explain_choices(outcome, first, second, labels if own is None else own.labels),
        undecided=outcome in NO_CHOICE,
        columns=columns,
        expected_result=shown[0],
        actual_result=shown[1],
    )


def _is_tied(completion: Completion) -> bool:
    """Return whether several letters are equally likely, which low precision makes common: then there is no choice."""
    values = completion.option_loglikelihoods or ()
    return sum(value == max(values) for value in values) > 1


def _explain_choices(outcome: str, first: Choice | None, second: Choice | None, labels: Sequence[str]) -> str:
    """Return a sentence about the two choices, with the labels of the prompt."""
    old, new = (choice and labels[choice.index] for choice in (first, second))
    noun = "The letter " if first and old == letters(len(labels))[first.index] else ""
    unread = " and the ".join(prompt for prompt, label in (("original", old), ("changed", new)) if label is None)
    return {
        "tied": f"The likeliest letters after the {unread} prompt are equally likely, which is no choice.",
        "unparsed": f"No one option is chosen in the reply to the {unread} prompt.",
        "text": f"The same option was chosen, as {old} and then as {new}.",
        "letter": f"{noun}{old} was chosen again, though it was another option.",
        "other": f"The choice went from {old} to {new}, another option.",
    }[outcome]


OTHER_WORDS = ("The answer:", "Your answer:", "The answer is:")
"""Replacements of "Answer:" with the same meaning, for the controls."""
CHOSEN = ("text", "letter", "other")
"""Outcomes of a pair with two choices, by what the second one followed."""
SENTENCES = {
    "text": "chooses the same option at every place: the content decides.",
    "letter": "chooses the same letter for every option: the position decides, not the content.",
    "other": "changes to another option and another letter: neither content nor position decides.",
}
EXPLANATIONS: Mapping[str, str] = {
    **choices.EXPLANATIONS,
    "samples": "Questions with a scored pair of orders; each time that one is asked counts.",
    "samples_following_the_option": "Those of them whose choice follows its option in every order.",
    "outcome_text": "Pairs of orders in which the choice followed the option: the content decided.",
    "outcome_letter": "Pairs of orders in which the choice stayed with the letter: the position decided.",
    "outcome_other": "Pairs of orders in which another option and another letter was chosen.",
    "outcome_tied": "Pairs of orders in which two letters are equally likely.",
    "outcome_unparsed": "Pairs of orders in which no choice could be read from one of the replies, or from both.",
    "*_against_uniform": "How often the letter was chosen, by how often an even choice would take it: 1 is even, 2 is "
    "twice as often.",
    RIGHT_RATE: "share of the pairs of orders that kept to the right option. Whoever keeps to a wrong one is steady, "
    "and wrong.",
    "accuracy": "Share of right choices over all orders of the options.",
    "accuracy_given_order": "Share of right choices in the given order of the options.",
    "right_in_all_orders": "Share of the questions answered rightly in every order: what the model knows rather than "
    "guesses.",
    "consistent_and_right": "Share of the pairs with a choice in both orders that kept to the right option.",
    "consistent_and_wrong": "Share of the pairs with a choice in both orders that kept to a wrong option: a lack of "
    "knowledge, not of steadiness.",
    "share_following_the_letter": "Share of the pairs with a choice in both orders that kept to the letter: the order "
    "decided, not the content.",
    "choice_changed": "Share of the pairs in which the order changed which option was chosen, or whether one was.",
}


class OptionOrderSettings(RewordedSettings):
    """Settings of `option_order`: its prompt, and how a choice is read."""

    of_scoring: ClassVar[frozenset[str]] = RewordedSettings.of_scoring | {"min_right_rate"}
    needed: ClassVar[tuple[str, ...]] = ("text", "options")

    min_right_rate: Proportion | None = Field(
        default=None,
        description="Gate of the right rate: share of the pairs of orders that must keep the right option. Used where "
        "it is known. Empty: a tenth of the way from guessing, or from the most frequent right answer, to 1.",
    )


class OptionOrder(Probe):
    """Ask a multiple-choice question in each cyclic order: every option has every letter once."""

    name: ClassVar[str] = "option_order"
    category: ClassVar[str] = "factuality"
    version: ClassVar[str] = "7"
    summary: ClassVar[str] = "Moves the options of a question: the choice must follow the option, not the letter."
    settings_type: ClassVar[type[OptionOrderSettings]] = OptionOrderSettings
    columns: ClassVar[Mapping[str, Column]] = {
        "rotation": Column("int", "Places by which the options were moved to the left.", "1"),
        "option_count": Column("int", "Options to choose from.", "1"),
        "choice": Column("string", "Option that was chosen in the given order.", holds_text=True),
        "rotated_choice": Column("string", "Option that was chosen in the rotated order.", holds_text=True),
        "choice_step": Column("string", "Which step read the choice in the given order."),
        "rotated_choice_step": Column("string", "Which step read the choice in the rotated order."),
        "letter": Column("string", "Letter that was chosen in the given order."),
        "rotated_letter": Column("string", "Letter that was chosen in the rotated order."),
        "outcome": Column("string", "What the two choices followed: text, letter, other, tied, or unparsed."),
        "correct": Column("bool", "Whether the choice in the given order was right."),
        "rotated_correct": Column("bool", "Whether the choice in the rotated order was right."),
        choices.RIGHT_ANSWER: choices.RIGHT_ANSWERS,
        **choices.COLUMNS,
    }
    explanations: ClassVar[Mapping[str, str]] = EXPLANATIONS
    without_choice: ClassVar[tuple[str, ...]] = ("outcome_unparsed", "outcome_tied")
    reader_errors: ClassVar[Sequence[MeasuredErrors]] = OF_OPTIONS
    by_default: ClassVar[bool] = True
    skip_reasons: ClassVar[Mapping[str, str]] = {
        "no_options": "without two answer options",
        "empty": "with a blank text or option",
        "equal_options": "with two equal options",
    }

    def cases(
        self, sample: TextSample, settings: OptionOrderSettings, *, rng: random.Random, likelihoods: Likelihoods
    ) -> Sequence[Case]:
        """Return a case for each rotation, 1 to N - 1 places to the left, to compare it with the given order."""
        skipped: str | None = None
        if len(sample.options) < 2:
            skipped = "no_options"
        elif not all(text.strip() for text in (sample.text, *sample.options)):
            skipped = "empty"
        elif has_equals(sample.options):
            skipped = "equal_options"
        asked = settings.choice_fields(likelihoods, where=self.where)
        prompts = prompts_for(sample, settings, where=self.where)
        base = self.case(
            sample,
            original=f"{sample.text}\n{prompts.options}" if prompts.options else sample.text,
            perturbed=None,
            original_prompt=prompts.pair(sample.text, None)[0],
            perturbed_prompt=None,
            labels=prompts.labels,
            options=sample.options,
            context=sample.surroundings,
            answers=sample.answers,
            skip_reason=skipped,
            chance=1 / len(sample.options) if sample.options else None,
            **asked,
        )
        if skipped:
            return [base]
        rotations = []
        for by in range(1, len(sample.options)):
            moved = prompts.with_options(rotate_options(sample.options, by))
            rotations.append(
                replace(
                    base,
                    id=f"{base.id}/{by}",
                    perturbed=f"{sample.text}\n{moved.options}",
                    perturbed_prompt=moved.prompt(sample.text),
                    confidence="high",
                    details={"rotation": str(by)},
                )
            )
        return rotations

    def control(
        self, case: Case, sample: TextSample, settings: OptionOrderSettings, *, rng: random.Random
    ) -> Case | None:
        """Return a control: the same order with another question; None if your own prompt has no other wording."""
        ask = rng.choice(OTHER_WORDS)
        prompts = prompts_for(sample, settings, where=self.where)
        if settings.reworded is not None:
            prompts = prompts._replace(template=settings.reworded)
        prompt = prompts.prompt(sample.text, ask=ask)
        if prompt == case.original_prompt:
            return None
        details = {**case.details, "rotation": "0"}
        return control_of(
            replace(case, original=case.original_prompt), perturbed=prompt, prompt=prompt, details=details
        )

    def same_prompt(self, case: Case, side: Side) -> Case:
        """Return a control that compares two replies to one order of the options."""
        moved = 0 if side == "expected" else int(case.details["rotation"])
        details = {**case.details, "rotation": "0"}
        return replace(super().same_prompt(case, side), options=rotate_options(case.options, moved), details=details)

    def score(self, trials: Sequence[Trial], settings: OptionOrderSettings, *, embed: Embed) -> list[Score]:
        """Return 1.0 and a pass if both replies choose the same option, else 0.0."""
        own = settings.own_labels
        return [score_order_trial(trial, own) for trial in trials]

    def follow_ups(self, trials: Sequence[Trial], settings: OptionOrderSettings, *, embed: Embed) -> Sequence[FollowUp]:
        """Return questions about the replies that name no one option, and about those that rules read."""
        if settings.labels_are_own:
            return []
        rotated = ((trial, rotate_options(trial.case.options, int(trial.case.details["rotation"]))) for trial in trials)
        return [
            question for trial, options in rotated for question in choices.ask_about_choices(trial, changed=options)
        ]

    def failure(self, row: Mapping[str, Any]) -> str:
        """Return a sentence on what the two choices followed; empty if one of them is missing."""
        before, after = row.get("letter"), row.get("rotated_letter")
        return {
            "letter": f"It picked {before} both times, though it was another option: position, not content.",
            "other": f"It picked {before}, then {after}, another option: the order changed its mind.",
        }.get(str(row.get("outcome")), "")

    def summarise(self, results: pd.DataFrame) -> Mapping[str, float | int | None]:
        """Return figures over the scored rows; the reply to the given order of a sample counts once.

        `<letter>_against_uniform` is how often a letter was chosen by how often an even choice takes it.
        """
        rows = results[results["outcome"].notna()] if "outcome" in results else results.iloc[:0]
        if rows.empty:
            return {"samples": 0}
        asking = make_asking_keys(rows)
        first = rows[~asking.duplicated()]
        steady = rows.assign(same=rows["outcome"] == "text").groupby(asking)
        together = steady.agg(same=("same", "sum"), count=("option_count", "first"))
        follows = int((together["same"] == together["count"] - 1).sum())
        replies = [*zip(first["letter"], first["option_count"], strict=True)]
        replies += zip(rows["rotated_letter"], rows["option_count"], strict=True)
        read = [(letter, int(count)) for letter, count in replies if isinstance(letter, str)]
        chosen = Counter(letter for letter, _ in read)
        against_uniform: dict[str, float | int | None] = {}
        for place, letter in enumerate(letters(max((count for _, count in read), default=0)), start=1):
            even = math.fsum(1 / count for _, count in read if count >= place)
            against_uniform[f"{letter}_against_uniform"] = chosen[letter] / even
        return {
            "samples": len(first),
            "samples_following_the_option": follows if rows["outcome"].isin(CHOSEN).any() else None,
            **{f"outcome_{name}": int((rows["outcome"] == name).sum()) for name in (*CHOSEN, "tied", "unparsed")},
            **against_uniform,
            **(measure_steps((first["choice_step"], rows["rotated_choice_step"])) if "choice_step" in rows else {}),
        }

    def picture(self) -> Picture:
        """Return a counter for bars of what the choices followed."""
        return RotationCounts()

    def criteria(self, results: pd.DataFrame, settings: OptionOrderSettings) -> Sequence[Criterion]:
        """Return the gate on right choices in both orders, because a model may also keep a wrong option."""
        kept = where(results["outcome"].isin(CHOSEN), results["outcome"].eq("text"))
        return right_rate(results, kept, numbers(results["correct"]), wanted=settings.min_right_rate)

    def measures(self, results: pd.DataFrame) -> Iterator[Measure]:
        """Yield accuracy as a mean over samples, and the other figures as means over pairs of orders.

        An unread reply is not right in `accuracy` and `right_in_all_orders`. Each asking of a sample counts once.
        """
        if "outcome" not in results:
            return
        outcome, read = results["outcome"], results["letter"].notna() | results["rotated_letter"].notna()
        judged = outcome.notna() & results["correct"].notna()
        original, rotated = (where(judged, results[name].eq(True)) for name in ("correct", "rotated_correct"))
        reply = results.assign(right=rotated)[judged].groupby(make_asking_keys(results)[judged])["right"]
        first = reply.cumcount().reindex(results.index).eq(0).to_numpy() & bool((judged & read).any())
        rows, right = (reply.transform(name).reindex(results.index).to_numpy(dtype=float) for name in ("size", "sum"))
        yield Measure(name="accuracy", values=where(first, (original + right) / (rows + 1)), bounds=(0, 1))
        yield Measure(name="accuracy_given_order", share=True, values=where(first, original))
        yield Measure(name="right_in_all_orders", share=True, values=where(first, (original == 1) & (right == rows)))
        parsed = outcome.isin(CHOSEN)
        known, kept, correct = parsed & results["correct"].notna(), outcome == "text", results["correct"].eq(True)
        yield Measure(name="consistent_and_right", share=True, values=where(known, kept & correct))
        yield Measure(name="consistent_and_wrong", share=True, values=where(known, kept & ~correct))
        yield Measure(name="share_following_the_letter", share=True, values=where(parsed, outcome == "letter"))
        changed = where(read & results["pass"].notna(), results["pass"].eq(False))
        yield Measure(name="choice_changed", share=True, values=changed, net="net_order_sensitivity")
        yield from choices.yield_reading_measures(results)


class RotationCounts:
    """Counts of the letters, and of the pairs of orders by what the choice followed."""

    def __init__(self) -> None:
        self._outcomes: Counter[str] = Counter()
        self._letters: Counter[str] = Counter()
        self._asked_last: set[object] = set()

    def add(self, rows: pd.DataFrame) -> None:
        """Count the scored pairs; all orders of a sample are consecutive rows."""
        pairs = rows[rows["rotation"].notna() & rows["outcome"].notna()]
        self._outcomes.update(pairs["outcome"])
        self._letters.update(pairs["rotated_letter"].dropna())
        # Each row of an asking repeats the reply to the given order; with `repeats` a sample is asked several times.
        asking = make_asking_keys(pairs)
        first = ~asking.duplicated() & ~asking.isin(self._asked_last)
        self._letters.update(pairs.loc[first, "letter"].dropna())
        self._asked_last = set(asking) or self._asked_last

    def panels(self, outcome: Outcome) -> Sequence[Panel]:
        """Return bars of what the choices followed; empty if no pair was scored."""
        if not self._outcomes:
            return []
        followed = {name: self._outcomes[name] for name in SENTENCES}
        untold = {name: self._outcomes[name] for name in NO_CHOICE}
        sentence = state_pattern(followed, SENTENCES, without_choice=sum(untold.values()))
        if sum(untold.values()) <= sum(followed.values()):
            chosen = ", ".join(f"{letter} {self._letters[letter]:,}" for letter in sorted(self._letters))
            sentence = f"{sentence} Letters chosen: {chosen}."
        names = frozenset(f"outcome_{name}" for name in (*SENTENCES, *NO_CHOICE))
        bars = shares({**followed, **untold})
        return [Bars(title="What the choice followed", shares=bars, sentence=sentence, figures=names)]
