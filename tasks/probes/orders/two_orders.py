"""Base class of tests that ask which of two texts is better, in both orders: order_bias, judge_order, judge_cues."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple

from pydantic import Field, FiniteFloat

from contrapose.tasks.core.records import Case, Completion, FollowUp, Likelihoods, Score, Side, Trial
from contrapose.tasks.language.replies.text import keep_readable_part
from contrapose.tasks.probes.base import Embed, Embeds, Proportion, Value, control_of, letters, normalize_spacing
from contrapose.tasks.probes.choices import make_words_columns
from contrapose.tasks.probes.known_errors import OF_TWO, MeasuredErrors
from contrapose.tasks.probes.orders.letter_replies import (
    Letter,
    LetterChoice,
    choose_likelier_letter,
    choose_nearer,
    convert_reader_answer,
    is_left_to_embeddings,
    make_debiased_columns,
    read_words,
)
from contrapose.tasks.probes.orders.two_figures import TwoOrderFigures
from contrapose.tasks.probes.own_prompt import render_built_in, render_prompt
from contrapose.tasks.probes.prompt_settings import RewordedSettings
from contrapose.tasks.probes.reader_questions import ask_reader, check_reader, is_declining

TwoTexts = tuple[str, str]
"""Two texts in their order."""


class PairSettings(RewordedSettings):
    """Settings of a prompt that shows two texts, and of how its reply is read."""

    variables: ClassVar[tuple[str, ...]] = ("first", "second", "question")
    one_is_right: ClassVar[bool] = True
    """Whether exactly one of the two can be right: who calls the one wrong then chooses the other."""
    needed: ClassVar[tuple[str, ...]] = ("first", "second")
    built_in: ClassVar[str] = ""

    prompt: str | None = Field(
        default=None,
        description="Your own prompt as a Jinja2 template. It needs {{ first }} and {{ second }}; it may use "
        "{{ question }} and the other fields of a sample. In a suite, `prompt_file` names its file. Empty: the "
        "built-in prompt.",
    )
    reworded: str | None = Field(
        default=None,
        description="The same in other words, for the controls of a prompt without {{ question }}; in a suite, "
        "`reworded_file` names its file. Empty: no controls then.",
    )
    labels: tuple[str, str] | None = Field(
        default=None, description="What the prompt calls what stands first, and what stands second; empty: A and B."
    )

    def read_in_words(self, reply: str, options: Sequence[str], *, cut_off: bool = False) -> LetterChoice:
        """Read a reply by the built-in rules; if it was cut off, only a final answer counts."""
        a, b = options
        read = read_words(reply, option_a=a, option_b=b, one_is_right=self.one_is_right, cut_off=cut_off)
        return replace(read, tie=False)

    def read_by_rules(self, reply: str, options: Sequence[str], *, cut_off: bool = False) -> LetterChoice:
        """Read a reply by the built-in rules, or by the labels of the prompt; a third label chooses neither."""
        if not self.labels_are_own or (own := self.own_labels) is None:
            return self.read_in_words(reply, options, cut_off=cut_off)
        place = own.find_place(reply, count=len(own.labels), cut_off=cut_off)
        if place is None:
            return LetterChoice(choice=None, step="unparsed", reason="no one label is named")
        choice: Letter | None = "A" if place == 0 else "B" if place == 1 else None
        return LetterChoice(choice=choice, step="label", reason=f"names {own.labels[place]}")


class TwoOrdersSettings(PairSettings):
    """Settings of a test that shows two texts in both orders."""

    of_scoring: ClassVar[frozenset[str]] = PairSettings.of_scoring | {"similarity_threshold", "margin", "calibration"}

    similarity_threshold: Proportion = Field(
        default=0.85, description="Smallest cosine at which a reply in other words means one of the texts."
    )
    margin: Proportion = Field(default=0.05, description="Smallest lead in cosine over the other text.")
    calibration: FiniteFloat = Field(
        default=0.2,
        gt=0,
        lt=1,
        description="Share of the pairs from which the letters' own pull is learned, to be taken out of the others.",
    )

    def embeds(self, likelihoods: Likelihoods) -> Embeds:
        """Return `all` if replies are read, because any reply may choose a text in other words."""
        return "none" if self.labels_are_own or self.by_likelihood(likelihoods) else "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedTexts:
    """The two texts of a sample to compare, with values for the prompt and the result rows."""

    right: str
    wrong: str
    values: Mapping[str, str]
    """Further values for the prompt, by their names in a template."""
    details: Mapping[str, str] = field(default_factory=dict)
    """What result rows repeat from the sample."""


class ReadReplies(NamedTuple):
    """The choices that were read from the two replies of a trial."""

    first: LetterChoice
    """To the original prompt."""
    second: LetterChoice
    """To the changed one."""


class TwoOrders(TwoOrderFigures):
    """A test that asks which of two texts is right, in both orders; a subclass implements `comparison`."""

    settings_type: ClassVar[type[PairSettings]] = TwoOrdersSettings
    reader_errors: ClassVar[Sequence[MeasuredErrors]] = OF_TWO
    right_first: ClassVar[bool] = True
    skip_reasons: ClassVar[Mapping[str, str]] = {
        "empty": "with a blank text",
        "equal_sentences": "with two equal texts",
    }
    template: ClassVar[str] = ""
    """Jinja template with {{ first }}, {{ second }}, {{ question }}; empty: a file in `data/prompts`."""
    prompt_name: ClassVar[str] = ""
    """Name of that file, for a test that asks as another one does; empty: the name of the test."""
    question: ClassVar[str]
    other_words: ClassVar[tuple[str, ...]] = ()
    """Questions that mean the same: the controls."""
    meaning: ClassVar[Mapping[str, str]] = {
        "AB": "The right text was chosen in both orders.",
        "AA": "A was chosen in both orders: the position decided.",
        "BB": "B was chosen in both orders: the position decided.",
        "BA": "The wrong text was chosen in both orders.",
    }
    """Sentence for each outcome that is none of an open case."""
    passing: ClassVar[tuple[str, ...]] = ("AB",)
    """Outcomes that pass."""

    def comparison(self, sample: Any) -> ComparedTexts:
        """Return the two texts of a sample to compare."""
        raise NotImplementedError

    def lay_out(self, text: str) -> str:
        """Return one of the two texts in the form for our own prompt."""
        return text.strip()

    def outcome(self, trial: Trial, read: ReadReplies, settings: Any) -> str:
        """Return both choices, such as `AB`, or `unparsed` if one of them could not be read.

        The documents' table fails such a pair, and a verdict leaves it open.
        """
        first, second = read.first.choice, read.second.choice
        return f"{first}{second}" if first and second else "unparsed"

    def prompt_values(self, settings: Any) -> Mapping[str, str]:
        """Return further values for the prompt, by their names in a template."""
        return {}

    def questions(self, sample: Any) -> tuple[str, ...]:
        """Return the question about a sample, and other questions with the same meaning."""
        return (self.question, *self.other_words)

    def explain(self, outcome: str, trial: Trial) -> str | None:
        """Return the sentence for an outcome; None if the replies are unreadable."""
        return self.meaning.get(outcome)

    def chance(self, settings: Any) -> float:
        """Return the probability that random guessing is right in one order."""
        return 1 / 2

    def cases(
        self, sample: Any, settings: PairSettings, *, rng: random.Random, likelihoods: Likelihoods
    ) -> Sequence[Case]:
        """Return one case: a prompt with the right text first, and one with it second. `rng` is not used."""
        asked = settings.choice_fields(likelihoods, where=self.where)
        compared = self.comparison(sample)
        both = compared.right, compared.wrong
        texts = [normalize_spacing(text) for text in (*both, *compared.values.values())]
        skipped = "empty" if not all(texts) else "equal_sentences" if texts[0] == texts[1] else None
        fields = {**asked, "chance": self.chance(settings) ** 2, "details": compared.details}
        swapped = None if skipped else both[::-1]
        return [self._pair_case(sample, settings, both, swapped, skip_reason=skipped, **fields)]

    def _pair_case(self, sample: Any, settings: Any, before: TwoTexts, after: TwoTexts | None, **fields: Any) -> Case:
        """Return a case with two prompts that each show two texts; a skipped case has the first prompt only."""
        return self.case(
            sample,
            original="A: {}\nB: {}".format(*before),
            perturbed=after and "A: {}\nB: {}".format(*after),
            original_prompt=self._prompt(settings, sample, before),
            perturbed_prompt=after and self._prompt(settings, sample, after),
            labels=letters(2),
            options=before,
            confidence=after and "high",
            **fields,
        )

    def control(self, case: Case, sample: Any, settings: PairSettings, *, rng: random.Random) -> Case | None:
        """Return a control: the same order with another question; None if there is no other wording."""
        if not self.other_words:
            return None
        own = self.question_in(settings.wording, sample)
        question = rng.choice([words for words in self.questions(sample) if words != own])
        if settings.reworded is not None:
            settings = settings.model_copy(update={"prompt": settings.reworded})
        prompt = self._prompt(settings, sample, case.options, question=question)
        if prompt == case.original_prompt:
            return None
        # What is shown is what differs: the question, or all of a prompt that has other words of its own.
        before, after = (f"{case.original}\n{asked}" for asked in (own, question))
        if settings.reworded is not None:
            before, after = case.original_prompt, prompt
        chance = self.chance(settings)
        return control_of(replace(case, original=before), perturbed=after, prompt=prompt, chance=chance)

    def question_in(self, wording: int, sample: Any) -> str:
        """Return the question for one of our own wordings, by number from 1; each further wording has another one."""
        return (own := self.questions(sample))[(wording - 1) % len(own)]

    def _prompt(self, settings: PairSettings, sample: Any, texts: Sequence[str], *, question: str | None = None) -> str:
        """Return the prompt with two texts in this order, from the suite's template if it has one."""
        first, second = map(self.lay_out if settings.prompt is None else str.strip, texts)
        values = {name: value.strip() for name, value in self.comparison(sample).values.items()}
        values |= {
            **self.prompt_values(settings),
            "first": first,
            "second": second,
            "question": question or self.question_in(settings.wording, sample),
        }
        template = self.template if settings.prompt is None else settings.prompt
        if not template:
            return render_built_in(self.prompt_name or self.name, values, wording=settings.wording, where=self.where)
        return render_prompt(template, values, where=f"{self.where}.prompt, sample {sample.id}")

    def score(self, trials: Sequence[Trial], settings: Any, *, embed: Embed) -> list[Score]:
        """Score each trial: a case passes if the answers are A, then B; a control passes if they are the same.

        The documents give two orders no numeric score: the value is 1.0 for a pass and 0.0 otherwise.
        """
        replies = [trial for trial in trials if trial.case.scorer == "reply"]
        in_words = iter(read_replies(replies, settings, embed=embed))
        scores = []
        for trial in trials:
            case = trial.case
            if case.scorer == "reply":
                read = next(in_words)
            elif case.scorer == "label":
                both = (trial.expected, trial.actual)
                read = ReadReplies(
                    *(settings.read_by_rules(one.text or "", case.options, cut_off=one.is_cut_off) for one in both)
                )
            else:
                first, second = choose_likelier_letter(trial.expected), choose_likelier_letter(trial.actual)
                if first is None or second is None:
                    reason = "The log-likelihoods of A and B are not both finite."
                    scores.append(Score(value=None, passed=None, reason=reason, columns=dict(case.details)))
                    continue
                read = ReadReplies(first, second)
            scores.append(_score_control(trial, read) if case.control else self.score_case(trial, read, settings))
        return scores

    def has_changed(self, score: Score) -> bool | None:
        """Return whether the swapped order changed the chosen text; None if a reply names no text."""
        known = all(score.columns.get(name) in self.choices_read for name in ("result", "swapped_result"))
        return score.columns.get("outcome") in self.order_decides if known else None

    def same_prompt(self, case: Case, side: Side) -> Case:
        """Return a control that compares two replies to one order; the swapped order keeps its order of texts."""
        again = super().same_prompt(case, side)
        return again if side == "expected" else replace(again, options=case.options[::-1])

    def score_case(self, trial: Trial, read: ReadReplies, settings: Any) -> Score:
        """Score a pair by the table of LangTest's documents: A then B passes, everything else fails."""
        outcome, (right, wrong) = self.outcome(trial, read, settings), trial.case.options
        likely = trial.case.scorer == "likelihood"
        columns: dict[str, Value] = {
            **trial.case.details,
            **make_verdict_columns(trial, read, settings),
            "outcome": outcome,
            **make_debiased_columns(trial),
            "calibrates": is_calibrating(trial.case.sample_id, settings.calibration) if likely else None,
            "right_is_longer": len(right) > len(wrong) if len(right) != len(wrong) else None,
        }
        named = ("original", read.first), ("swapped", read.second)
        unread = "; ".join(f"{name}: {choice.reason}" for name, choice in named if name_choice(choice) is None)
        explained = self.explain(outcome, trial)
        return Score(
            value=float(outcome in self.passing),
            passed=outcome in self.passing,
            reason=explained or f"No choice could be read ({unread}).",
            undecided=explained is None,
            columns=columns,
        )

    def follow_ups(self, trials: Sequence[Trial], settings: PairSettings, *, embed: Embed) -> Sequence[FollowUp]:
        """Return questions for the reader model: about replies without a choice, and about replies that rules read."""
        trials = [trial for trial in trials if trial.case.scorer == "reply"]
        asked: list[FollowUp] = []
        for trial, read in zip(trials, read_replies(trials, settings, embed=embed), strict=True):
            for (side, reply, options), choice in zip(_list_replies(trial), read, strict=True):
                declined = choice.tie or is_declining(reply.text or "", choice.reason)
                letter, step = choice.choice, choice.step
                asked += ask_reader(trial, side, options, letter=letter, step=step, declined=declined)
        return asked

    def failure(self, row: Mapping[str, Any]) -> str:
        """Return a sentence on the choices in both orders; empty if one of them is missing."""
        sentence = self.sentences.get(str(row.get("outcome")), "")
        return f"It {sentence}" if sentence else ""


def name_choice(choice: LetterChoice) -> str | None:
    """Return the chosen letter, or `tie`; None if the reply names neither."""
    return choice.choice or ("tie" if choice.tie else None)


def _list_replies(trial: Trial) -> tuple[tuple[Side, Completion, tuple[str, ...]], ...]:
    """Return both replies, with the options as they stood in their prompts."""
    options = trial.case.options
    swapped = options if trial.case.control else options[::-1]
    return ("expected", trial.expected, options), ("actual", trial.actual, swapped)


def make_verdict_columns(trial: Trial, read: ReadReplies, settings: PairSettings) -> dict[str, Value]:
    """Return columns: both choices, the steps that read them, the reader's agreement, and the reply in words."""
    words = trial.expected.in_words
    said = None if words is None else settings.read_in_words(words, trial.case.options).choice
    return {
        "result": name_choice(read.first) or "",
        "swapped_result": name_choice(read.second) or "",
        "result_step": read.first.step,
        "swapped_step": read.second.step,
        **make_words_columns(words, read=said, likeliest=read.first.choice),
        **check_reader(
            (reply, choice.choice, choice.step, options)
            for (_, reply, options), choice in zip(_list_replies(trial), read, strict=True)
        ),
    }


def read_replies(trials: Sequence[Trial], settings: PairSettings, *, embed: Embed) -> list[ReadReplies]:
    """Read the choices of trials in both orders; all replies that need embeddings share one batch.

    Settings without a threshold read nothing by embedding.
    """
    replies = [(reply, options) for trial in trials for _, reply, options in _list_replies(trial)]
    read: list[LetterChoice] = []
    for reply, (a, b) in replies:
        if reply.constrained and reply.text in ("A", "B"):
            held: Letter = "A" if reply.text == "A" else "B"
            read.append(LetterChoice(choice=held, step="constrained", reason="held to the letters"))
        else:
            read.append(settings.read_in_words(reply.text or "", (a, b), cut_off=reply.is_cut_off))
    unread = [place for place, choice in enumerate(read) if is_left_to_embeddings(choice)]
    if isinstance(settings, TwoOrdersSettings) and unread:
        texts = [
            text for place in unread for text in (keep_readable_part(replies[place][0].text or ""), *replies[place][1])
        ]
        for i, (reply_vector, *vectors) in zip(unread, embed(texts).reshape(len(unread), 3, -1), strict=True):
            cosines = [float(reply_vector @ vector) for vector in vectors]
            read[i] = choose_nearer(cosines, similarity_threshold=settings.similarity_threshold, margin=settings.margin)
    for place, (reply, options) in enumerate(replies):
        # Where a reply plainly chooses nothing, what the model says of it decides nothing.
        if name_choice(read[place]) is None and not is_declining(reply.text or "", read[place].reason):
            read[place] = convert_reader_answer(reply.asked_back, options) or read[place]
    return [ReadReplies(*both) for both in zip(read[::2], read[1::2], strict=True)]


def is_calibrating(sample_id: str, share: float) -> bool:
    """Return whether a pair belongs to the share (0 to 1) of calibrating pairs, by a hash of its id."""
    digest = hashlib.sha256(f"pride\x00{sample_id}".encode()).digest()
    return int.from_bytes(digest[:8], "big") < share * 2**64


def _score_control(trial: Trial, read: ReadReplies) -> Score:
    """Score a control: it passes if both letters are the same, because both prompts have the same order."""
    first, second = name_choice(read.first), name_choice(read.second)
    columns: dict[str, Value] = {**trial.case.details, "result": first or "", "result_step": read.first.step}
    if first is None and second is None:
        return Score(value=None, passed=None, reason="Neither reply names a choice.", columns=columns)
    same = first == second
    course = f"stayed {first}" if same else f"changed from {first or 'none'} to {second or 'none'}"
    reason = f"The choice {course} under a question that means the same."
    is_open = first is None or second is None
    return Score(value=float(same), passed=same, reason=reason, undecided=is_open, columns=columns)
