"""Two texts, one better than the other, in both orders: the machine of order_bias and of judge_order."""

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
from contrapose.tasks.probes.choices import in_words_columns
from contrapose.tasks.probes.known_errors import OF_TWO, Measured
from contrapose.tasks.probes.orders.letter_replies import (
    Letter,
    LetterChoice,
    debiased_columns,
    likelier_letter,
    nearer,
    needs_meaning,
    read_answer,
    read_words,
)
from contrapose.tasks.probes.orders.two_figures import TwoOrderFigures
from contrapose.tasks.probes.own_prompt import default_prompt, render_prompt
from contrapose.tasks.probes.prompt_settings import RewordedSettings
from contrapose.tasks.probes.reader_questions import ask_about, check_columns, declines

TwoTexts = tuple[str, str]
"""Two texts in their order."""


class PairSettings(RewordedSettings):
    """Settings of a prompt that shows two texts."""

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
        """Read a reply by the built-in rules; of one that was cut off only a final answer counts."""
        a, b = options
        read = read_words(reply, option_a=a, option_b=b, one_is_right=self.one_is_right, cut_off=cut_off)
        return replace(read, tie=False)

    def read_by_rules(self, reply: str, options: Sequence[str], *, cut_off: bool = False) -> LetterChoice:
        """Read a reply by rules for words, or by labels of the prompt; a label beyond the two chooses neither."""
        if not self.labels_are_own or (own := self.own_labels) is None:
            return self.read_in_words(reply, options, cut_off=cut_off)
        place = own.place(reply, count=len(own.labels), cut_off=cut_off)
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
        """Return `all` where replies are read: any may say in other words which text it means."""
        return "none" if self.labels_are_own or self.by_likelihood(likelihoods) else "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedTexts:
    """The texts of a sample to compare."""

    right: str
    wrong: str
    values: Mapping[str, str]
    """What a prompt says of them, by the names of a template."""
    details: Mapping[str, str] = field(default_factory=dict)
    """What result rows repeat of the sample."""


class Read(NamedTuple):
    """The replies of a trial, as they were read."""

    first: LetterChoice
    """To the original prompt."""
    second: LetterChoice
    """To the changed one."""


class TwoOrders(TwoOrderFigures):
    """A probe that asks which of two texts is the right one, in both orders; a subclass says what they are."""

    settings_type: ClassVar[type[PairSettings]] = TwoOrdersSettings
    reader_errors: ClassVar[Sequence[Measured]] = OF_TWO
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
        """Return the texts of a sample to compare."""
        raise NotImplementedError

    def lay_out(self, text: str) -> str:
        """Return one of the two texts as it stands in a prompt of ours."""
        return text.strip()

    def outcome(self, trial: Trial, read: Read, settings: Any) -> str:
        """Return both choices, or `unparsed` where one of them could not be read.

        The documents' table fails such a pair, and a verdict leaves it open.
        """
        first, second = read.first.choice, read.second.choice
        return f"{first}{second}" if first and second else "unparsed"

    def prompt_values(self, settings: Any) -> Mapping[str, str]:
        """Return what a prompt says besides the texts of a sample, by the names of a template."""
        return {}

    def questions(self, sample: Any) -> tuple[str, ...]:
        """Return the question about a sample, and others that mean the same."""
        return (self.question, *self.other_words)

    def explain(self, outcome: str, trial: Trial) -> str | None:
        """Return the sentence for an outcome; None where the replies leave the case open."""
        return self.meaning.get(outcome)

    def chance(self, settings: Any) -> float:
        """Return the probability that a guesser is right in one order."""
        return 1 / 2

    def cases(
        self, sample: Any, settings: PairSettings, *, rng: random.Random, likelihoods: Likelihoods
    ) -> Sequence[Case]:
        """Make a prompt with the right text first, and one with it second. Nothing is drawn from `rng`."""
        asked = settings.choice_fields(likelihoods, where=self.where)
        compared = self.comparison(sample)
        both = compared.right, compared.wrong
        texts = [normalize_spacing(text) for text in (*both, *compared.values.values())]
        skipped = "empty" if not all(texts) else "equal_sentences" if texts[0] == texts[1] else None
        fields = {**asked, "chance": self.chance(settings) ** 2, "details": compared.details}
        swapped = None if skipped else both[::-1]
        return [self._pair_case(sample, settings, both, swapped, skip_reason=skipped, **fields)]

    def _pair_case(self, sample: Any, settings: Any, before: TwoTexts, after: TwoTexts | None, **fields: Any) -> Case:
        """Return the case of two prompts that each show two texts; a skipped one has the first prompt alone."""
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
        """Ask the same order in other words; None where the test, or a prompt of one's own, has no other words."""
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
        """Return the question of one of our own wordings, by number from 1: they take turns with the other words."""
        return (own := self.questions(sample))[(wording - 1) % len(own)]

    def _prompt(self, settings: PairSettings, sample: Any, texts: Sequence[str], *, question: str | None = None) -> str:
        """Return the prompt with two texts in some order, by the suite's own template if it has one."""
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
            return default_prompt(self.prompt_name or self.name, values, wording=settings.wording, where=self.where)
        return render_prompt(template, values, where=f"{self.where}.prompt, sample {sample.id}")

    def score(self, trials: Sequence[Trial], settings: Any, *, embed: Embed) -> list[Score]:
        """Pass a trial only when the answers are A, then B; pass a control when they are the same.

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
                read = Read(
                    *(settings.read_by_rules(one.text or "", case.options, cut_off=one.is_cut_off) for one in both)
                )
            else:
                first, second = likelier_letter(trial.expected), likelier_letter(trial.actual)
                if first is None or second is None:
                    reason = "The log-likelihoods of A and B are not both finite."
                    scores.append(Score(value=None, passed=None, reason=reason, columns=dict(case.details)))
                    continue
                read = Read(first, second)
            scores.append(_score_control(trial, read) if case.control else self.score_case(trial, read, settings))
        return scores

    def has_changed(self, score: Score) -> bool | None:
        """Return whether another text was chosen in the other order; None where a reply names none."""
        known = all(score.columns.get(name) in self.choices_read for name in ("result", "swapped_result"))
        return score.columns.get("outcome") in self.order_decides if known else None

    def same_prompt(self, case: Case, side: Side) -> Case:
        """Return the control of one order; the texts of the swapped one stand in its own order."""
        again = super().same_prompt(case, side)
        return again if side == "expected" else replace(again, options=case.options[::-1])

    def score_case(self, trial: Trial, read: Read, settings: Any) -> Score:
        """Score a pair by the documents' table: A then B passes, everything else fails."""
        outcome, (right, wrong) = self.outcome(trial, read, settings), trial.case.options
        likely = trial.case.scorer == "likelihood"
        columns: dict[str, Value] = {
            **trial.case.details,
            **reading_columns(trial, read, settings),
            "outcome": outcome,
            **debiased_columns(trial),
            "calibrates": calibrates(trial.case.sample_id, settings.calibration) if likely else None,
            "right_is_longer": len(right) > len(wrong) if len(right) != len(wrong) else None,
        }
        named = ("original", read.first), ("swapped", read.second)
        unread = "; ".join(f"{name}: {choice.reason}" for name, choice in named if verdict_of(choice) is None)
        explained = self.explain(outcome, trial)
        return Score(
            value=float(outcome in self.passing),
            passed=outcome in self.passing,
            reason=explained or f"No choice could be read ({unread}).",
            undecided=explained is None,
            columns=columns,
        )

    def follow_ups(self, trials: Sequence[Trial], settings: PairSettings, *, embed: Embed) -> Sequence[FollowUp]:
        """Return questions about the replies that name neither text, and about those that rules read."""
        trials = [trial for trial in trials if trial.case.scorer == "reply"]
        asked: list[FollowUp] = []
        for trial, read in zip(trials, read_replies(trials, settings, embed=embed), strict=True):
            for (side, reply, options), choice in zip(_replies(trial), read, strict=True):
                declined = choice.tie or declines(reply.text or "", choice.reason)
                letter, step = choice.choice, choice.step
                asked += ask_about(trial, side, options, letter=letter, step=step, declined=declined)
        return asked

    def failure(self, row: Mapping[str, Any]) -> str:
        """Describe the choices in both orders; empty where one of them lacks a choice."""
        sentence = self.sentences.get(str(row.get("outcome")), "")
        return f"It {sentence}" if sentence else ""


def verdict_of(choice: LetterChoice) -> str | None:
    """Return the letter that was chosen, or `tie`; None where a reply says neither."""
    return choice.choice or ("tie" if choice.tie else None)


def _replies(trial: Trial) -> tuple[tuple[Side, Completion, tuple[str, ...]], ...]:
    """Return both replies, with the options as they stood in their prompts."""
    options = trial.case.options
    swapped = options if trial.case.control else options[::-1]
    return ("expected", trial.expected, options), ("actual", trial.actual, swapped)


def reading_columns(trial: Trial, read: Read, settings: PairSettings) -> dict[str, Value]:
    """Return the choices of a trial, what read them, how well the model reads, and what its reply in words says."""
    words = trial.expected.in_words
    said = None if words is None else settings.read_in_words(words, trial.case.options).choice
    return {
        "result": verdict_of(read.first) or "",
        "swapped_result": verdict_of(read.second) or "",
        "result_step": read.first.step,
        "swapped_step": read.second.step,
        **in_words_columns(words, read=said, likeliest=read.first.choice),
        **check_columns(
            (reply, choice.choice, choice.step, options)
            for (_, reply, options), choice in zip(_replies(trial), read, strict=True)
        ),
    }


def read_replies(trials: Sequence[Trial], settings: PairSettings, *, embed: Embed) -> list[Read]:
    """Return the choices of trials under both orders; all replies that need embeddings share one batch.

    Settings without a threshold read nothing by embedding.
    """
    replies = [(reply, options) for trial in trials for _, reply, options in _replies(trial)]
    read: list[LetterChoice] = []
    for reply, (a, b) in replies:
        if reply.constrained and reply.text in ("A", "B"):
            held: Letter = "A" if reply.text == "A" else "B"
            read.append(LetterChoice(choice=held, step="constrained", reason="held to the letters"))
        else:
            read.append(settings.read_in_words(reply.text or "", (a, b), cut_off=reply.is_cut_off))
    unread = [place for place, choice in enumerate(read) if needs_meaning(choice)]
    if isinstance(settings, TwoOrdersSettings) and unread:
        texts = [
            text for place in unread for text in (keep_readable_part(replies[place][0].text or ""), *replies[place][1])
        ]
        for place, (reply_vector, *vectors) in zip(unread, embed(texts).reshape(len(unread), 3, -1), strict=True):
            cosines = [float(reply_vector @ vector) for vector in vectors]
            read[place] = nearer(cosines, similarity_threshold=settings.similarity_threshold, margin=settings.margin)
    for place, (reply, options) in enumerate(replies):
        # Where a reply plainly chooses nothing, what the model says of it decides nothing.
        if verdict_of(read[place]) is None and not declines(reply.text or "", read[place].reason):
            read[place] = read_answer(reply.asked_back, options) or read[place]
    return [Read(*both) for both in zip(read[::2], read[1::2], strict=True)]


def calibrates(sample_id: str, share: float) -> bool:
    """Return whether a pair belongs to the calibrating share, 0 to 1: by its id alone, in whatever order pairs come."""
    digest = hashlib.sha256(f"pride\x00{sample_id}".encode()).digest()
    return int.from_bytes(digest[:8], "big") < share * 2**64


def _score_control(trial: Trial, read: Read) -> Score:
    """Pass a control with the same letter twice: the order is the same in both prompts, so no outcome is AB."""
    first, second = verdict_of(read.first), verdict_of(read.second)
    columns: dict[str, Value] = {**trial.case.details, "result": first or "", "result_step": read.first.step}
    if first is None and second is None:
        return Score(value=None, passed=None, reason="Neither reply names a choice.", columns=columns)
    same = first == second
    course = f"stayed {first}" if same else f"changed from {first or 'none'} to {second or 'none'}"
    reason = f"The choice {course} under a question that means the same."
    is_open = first is None or second is None
    return Score(value=float(same), passed=same, reason=reason, undecided=is_open, columns=columns)
