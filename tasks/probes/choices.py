"""Read which option a reply chose, by log-likelihoods or words; columns and figures of all tests with options.

Likelihoods of letters are worth something where a letter is likely at all, and replies in words say the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from contrapose.tasks.core.records import LEAST_LABEL_MASS, Case, Completion, FollowUp, Side, Trial
from contrapose.tasks.language.replies.options import choose
from contrapose.tasks.probes import reader_questions
from contrapose.tasks.probes.base import Column, Criterion, Measure, letters
from contrapose.tasks.probes.own_prompt import OwnLabels
from contrapose.tasks.probes.reader_questions import is_declining, read_reader_answer
from contrapose.tasks.probes.values import GuessedRate, all_hold, average_known, compute_gate_above, numbers, where

LEAST_AGREEMENT = 0.9
"""Below this agreement, a verdict by likelihood gets a warning, because it says too little about the replies."""

COLUMNS: Mapping[str, Column] = {
    "in_words_choice": Column(
        "string",
        "Letter that the model chooses when it answers the unchanged prompt in words; empty where none could be "
        "read, missing where it was not asked.",
    ),
    "words_agree": Column("bool", "Whether that letter is the likeliest one; missing where none could be read."),
    **reader_questions.COLUMNS,
}

EXPLANATIONS: Mapping[str, str] = {
    "likelihood": "The letter that the model holds likeliest is its choice; nothing has to be read.",
    "reply": "The choice is read from the reply in words.",
    "label": "The choice is the label of the prompt that the reply ends on.",
    "reply_agreement": "Share of the replies in words that say the option which the likelihoods choose. "
    f"Below {LEAST_AGREEMENT:.0%} the likelihoods say too little about what the model replies.",
    "reply_unread": "Share of the replies in words in which no option could be read.",
    **reader_questions.EXPLANATIONS,
}


@dataclass(frozen=True, slots=True)
class Choice:
    """The option that was chosen, and the probability of each option."""

    index: int
    """Position among the labels."""
    shares: tuple[float, ...]
    """Probability of each label; they add up to 1."""
    step: str
    """`likelihood`, or the step that read the reply: `letter`, `pattern`, `restated`, `asked`; `label`, of a prompt of
    one's own; or `constrained`, if the endpoint allowed only letters."""


def read_choice(
    completion: Completion, *, labels: Sequence[str], options: Sequence[str], own: OwnLabels | None = None
) -> Choice | None:
    """Return the choice by log-likelihoods if there are any, else by the words of the reply; None if unreadable.

    Replies to your own prompt name its `own` labels; others are read by our rules for letters.
    """
    if (values := completion.option_loglikelihoods) is not None:
        top = max(values, default=math.nan)
        if not math.isfinite(top) or any(math.isnan(value) for value in values):
            return None
        weights = [math.exp(value - top) for value in values]
        total = math.fsum(weights)
        return Choice(list(values).index(top), tuple(weight / total for weight in weights), "likelihood")
    reply, index, step, count = completion.text or "", None, "label", len(options)
    if own is not None:
        index = own.find_place(reply, count=count, cut_off=completion.is_cut_off)
    elif completion.constrained and reply in labels:
        index, step, count = list(labels).index(reply), "constrained", len(labels)
    else:
        chosen = choose(reply, labels=labels, options=options, cut_off=completion.is_cut_off)
        index, step, count = chosen.index, chosen.step, len(labels)
        if index is None and completion.asked_back is not None and not is_declining(reply):
            answer = read_reader_answer(completion.asked_back, options)
            index, step = next((place for place, label in enumerate(labels) if label == answer), None), "asked"
    return None if index is None else Choice(index, tuple(float(i == index) for i in range(count)), step)


def ask_about_choices(trial: Trial, *, changed: Sequence[str]) -> Iterator[FollowUp]:
    """Yield questions for the reader model: about unreadable replies, and about replies that rules read, as a check."""
    for side, reply, options in _list_sides(trial, changed):
        letter, step = _read_letter(reply, options)
        declined = letter is None and is_declining(reply.text or "")
        yield from reader_questions.ask_reader(trial, side, options, letter=letter, step=step, declined=declined)


def make_read_columns(trial: Trial, likeliest: str | None, *, changed: Sequence[str]) -> dict[str, str | bool | None]:
    """Return columns that compare the reply in words with the likeliest letter, and the reader with the rules."""
    reply, labels = trial.expected.in_words, trial.case.labels
    index = None if reply is None else choose(reply, labels=labels, options=trial.case.options).index
    columns = make_words_columns(reply, read=None if index is None else labels[index], likeliest=likeliest)
    if trial.expected.asked_back is None and trial.actual.asked_back is None:
        return columns
    sides = _list_sides(trial, changed)
    checks = reader_questions.check_reader((said, *_read_letter(said, options), options) for _, said, options in sides)
    return {**columns, **checks}


def _list_sides(trial: Trial, changed: Sequence[str]) -> tuple[tuple[Side, Completion, Sequence[str]], ...]:
    """Return both replies, each with the options in the order of its prompt."""
    return ("expected", trial.expected, trial.case.options), ("actual", trial.actual, changed)


def _read_letter(reply: Completion, options: Sequence[str]) -> tuple[str | None, str]:
    """Return the letter that a reply chooses, and the step that read it; `unparsed` if none did."""
    choice = read_choice(reply, labels=letters(len(options)), options=options)
    return (None, "unparsed") if choice is None else (letters(len(options))[choice.index], choice.step)


def step_of(completion: Completion, choice: Choice | None) -> str:
    """Return the step that read a choice, for result rows; `unparsed` if none did."""
    if completion.option_loglikelihoods is not None:
        return "likelihood"
    return "unparsed" if choice is None else choice.step


def make_words_columns(reply: str | None, *, read: str | None, likeliest: str | None) -> dict[str, str | bool | None]:
    """Return the columns that compare a reply in words with the likeliest letter."""
    if reply is None:
        return {}
    agree = None if read is None or likeliest is None else read == likeliest
    return {"in_words_choice": read or "", "words_agree": agree}


def yield_reading_measures(results: pd.DataFrame) -> Iterator[Measure]:
    """Yield how often replies in words agree with likelihoods, and how often the reader model agrees with the rules.

    `reply_agreement` is over the replies in words that could be read, and `reply_unread` is the share of the others.
    """
    if {"in_words_choice", "words_agree"} <= set(results.columns):
        asked, known = results["in_words_choice"].notna(), results["words_agree"].notna()
        yield Measure(name="reply_agreement", share=True, values=where(known, results["words_agree"].eq(True)))
        yield Measure(name="reply_unread", share=True, values=where(asked, results["in_words_choice"].eq("")))
    yield from reader_questions.make_check_measures(results)


MASSES: Mapping[str, Column] = {
    "expected_label_mass": Column(
        "float",
        "Share of the next token's probability on the letters after the unchanged prompt, at least; where it is below "
        f"{LEAST_LABEL_MASS:g} after either prompt, both replies are read.",
        "1",
    ),
    "actual_label_mass": Column("float", "The same after the changed prompt.", "1"),
}
"""Result columns of every test: missing if no letters were compared, or their share is unknown."""

MASS_EXPLANATIONS: Mapping[str, str] = {
    "label_mass_median": "Share of the probability that lies on the letters where the reply begins: the median over "
    "all prompts whose letters were compared.",
    "label_mass_least": "The least such share.",
    "read_instead": f"Cases whose letters hold less than {LEAST_LABEL_MASS:.0%} of the probability after one prompt or "
    "both. Their likelihoods decide nothing: both replies were written and read.",
}


def compute_mass_figures(results: pd.DataFrame) -> dict[str, float | int | None]:
    """Return figures on the probability of the letters, and on cases read from words because it was too low."""
    if not set(MASSES) <= set(results.columns):
        return {}
    masses = results[list(MASSES)].to_numpy(dtype=float)
    known = masses[~np.isnan(masses)]
    if not len(known):
        return {}
    return {
        "label_mass_median": float(np.median(known)),
        "label_mass_least": float(known.min()),
        # Where one of the two is unknown, so is the least: the case was not answered twice.
        "read_instead": int((masses.min(axis=1) < LEAST_LABEL_MASS).sum()),
    }


ASKED = ("sample_id", "wording", "repeat")
"""Columns that identify one request of a sample and of its control; older runs lack `wording`."""


def make_asking_keys(rows: pd.DataFrame) -> pd.Series:
    """Return (rows,) of tuples that are equal for all orders of one request of a sample."""
    parts = [rows[name].fillna(0) for name in ASKED if name in rows]
    return pd.Series(list(zip(*parts, strict=True)), index=rows.index, dtype=object)


RIGHT_RATE = "right_rate"
RIGHT_ANSWER = "right_answer"
RIGHT_ANSWERS = Column(
    "string",
    "Replies that are right after the change, a line each: of an option its letter, unless letters move, then its "
    "text.",
)
LONGEST_ANSWER = 60
"""Most characters of a right answer that are compared."""


def right_rate(
    results: pd.DataFrame, kept: np.ndarray, *right: np.ndarray, wanted: float | None, least: float = 0.0
) -> Sequence[Criterion]:
    """Return the gate on cases that keep the right answer; empty if no right answer is known.

    A constant answer always stays. It is right with 1 of N options, which is the chance of this gate. `kept` and
    `right` are (rows,) of 1, 0 or NaN. Without a `wanted` gate it is `least`, or a tenth of the way from chance to 1 if
    that is more; 0 means no gate.
    """
    known = results["answer_known"].eq(True).to_numpy() & ~results["control"].to_numpy(dtype=bool)
    if wanted == 0 or not known.any():
        return []
    chance = average_known(1 / numbers(results["option_count"])[known])
    gate = max(least, 0.0 if chance is None else compute_gate_above(chance)) if wanted is None else wanted
    criterion = Criterion(name=RIGHT_RATE, wanted=gate, met=all_hold(kept, *right), applies=known, chance=chance)
    return [raise_above_constant(criterion, results[known], is_set=wanted is not None)]


def raise_above_constant(criterion: Criterion, cases: pd.DataFrame, *, is_set: bool) -> Criterion:
    """Raise the chance of a criterion to the rate of the best constant answer in its cases.

    So does its gate, unless a user has set it.
    """
    guess = find_best_constant(cases)
    if guess is None or guess.rate <= (criterion.chance or 0):
        return criterion
    wanted = criterion.wanted if is_set else max(criterion.wanted, compute_gate_above(guess.rate))
    return replace(criterion, wanted=wanted, chance=guess.rate, constant=guess.answer)


def find_best_constant(cases: pd.DataFrame) -> GuessedRate | None:
    """Return the answer that is right in most cases, and its share; None if no right answer is known."""
    if RIGHT_ANSWER not in cases or not (known := cases[RIGHT_ANSWER].dropna()).size:
        return None
    said = known.str.split("\n").explode().value_counts(sort=False)
    return GuessedRate(float(said.max() / len(cases)), str(said.idxmax()))


def format_right_answers(case: Case, *, letters_move: bool = False) -> str | None:
    """Return the replies that are right after the change, one per line; None if none is known.

    Args:
        case: a case, with the options and answers after the change where these are others.
        letters_move: options change their letters, so that no letter is right both times.
    """
    options = case.options_after or case.options
    accepted = {answer.strip() for answer in case.answers_after or case.answers}
    own = options if case.answers_after else case.options
    places = [place for place, option in enumerate(own) if option.strip() in accepted]
    said = [] if letters_move else [case.labels[place] for place in places]
    said += [options[place].casefold() for place in places]
    if not case.options:
        said = [answer.casefold() for answer in case.answers_after or case.answers]
    lines = dict.fromkeys(" ".join(answer.split())[:LONGEST_ANSWER] for answer in said)
    return "\n".join(lines) or None
