"""Records that the stages pass on: sample, case, completion, trial, score."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypedDict

from contrapose.tasks.core.chats import format_transcript, parse_chat
from contrapose.tasks.core.reply_outcomes import WITHHELD, ReplyOutcome

Asks = Literal["generate", "choose"]
Verdict = Literal["first", "second", "tie"]
"""Which of two answers is better: the first, the second, or neither."""
Side = Literal["expected", "actual"]
"""The completions of a trial: for the original prompt, and for the perturbed one."""
LossOf = Literal["expected_result", "prompt"]
CONTROL_KIND = "control_kind"
"""Of the details of a control: how it differs from the original."""
READ_BY = "read_by"
"""Key of `Case.details`: `label` where replies are read by labels of a prompt of one's own, and held to no letters."""
Likelihoods = Literal["none", "choices", "all"]
"""Which log-likelihoods a model gives: none, those of option letters, or those of any text."""
LEAST_LABEL_MASS = 0.05
"""Share of the next token's probability, 0 to 1. Where less than this lies on the labels, the model would almost never
begin its reply with one of them: their likelihoods decide nothing, and the reply is read. Models that write something
else first leave 1e-6 to 1e-8; the embedded model, a base model, leaves at least 0.15 on all bundled samples."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextSample:
    """A text or question, with options if it is a multiple choice."""

    id: str
    """Unique within its data source."""
    text: str
    """The statement, question or unfinished sentence."""
    context: str | None = None
    """A passage, dialogue or input that the text is about; it stands above the text and is never changed."""
    chat: str | None = None
    """The conversation that holds the text, as the prompt of a `Chat`; None if the text is all that is said."""
    turn: int = 0
    """Place in `chat` of the message that is the text."""
    options: tuple[str, ...] = ()
    """Option texts without their letters; empty for open text."""
    answers: tuple[str, ...] = ()
    """Accepted answers, any of which is right; with options, texts of options. Empty when none is known."""
    slice: str | None = None
    """Value of the tag column (`slice_by`)."""
    cluster: str | None = None
    """Samples that share it are not independent (one article, one document)."""

    @property
    def surroundings(self) -> str | None:
        """Return the text's surroundings for people: the other messages of its conversation, and the context."""
        chat = parse_chat(self.chat or "")
        if chat is None:
            return self.context
        messages = chat.with_contents({self.turn: "[…]"}).messages
        shown = messages[: self.turn] if self.turn == len(messages) - 1 else messages
        return "\n\n".join(filter(None, (format_transcript(shown, labelled=True), self.context))) or None


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemSample(TextSample):
    """A question about a list, such as passages, tools, examples or criteria of a rubric."""

    items: tuple[str, ...]
    """The list in its given order, without numbers: those belong to places."""
    relevant: int | None = None
    """Place of the item that holds the answer, 1 for the first; None if it is unknown, or none does alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RelatedTexts(TextSample):
    """A question and its changed form, both from the data."""

    after: str | None = None
    """The changed text; None if a function makes it."""
    context_after: str | None = None
    """What stands above the changed text; None: what stands above the text."""
    options_after: tuple[str, ...] = ()
    """Options of the changed text, in the order of `options`; empty: those of the text."""
    answers_after: tuple[str, ...] = ()
    """Accepted answers to the changed text; empty if none is known."""
    control_text: str | None = None
    """The text in other words with the same meaning; None if the data have none."""
    variant: str | None = None
    """Name of the change, of several that one text has; None if it has one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryPair:
    """An article with a correct and an incorrect summary."""

    id: str
    """Unique within its data source."""
    article_sentence: str
    """The source text."""
    correct_sentence: str
    """The summary that the article supports."""
    incorrect_sentence: str
    """The summary that the article contradicts."""
    slice: str | None = None
    """Value of the tag column (`slice_by`)."""
    cluster: str | None = None
    """Pairs of one article share it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerPair:
    """An instruction with two answers for a judge to compare, and the preference of people if it is known."""

    id: str
    """Unique within its data source."""
    instruction: str | None = None
    """What was asked for; None if the answers alone are compared."""
    first: str
    """The answer that stands first in the row."""
    second: str
    """The other one."""
    winner: Verdict | None = None
    """The answer that people prefer, or `tie`; None if nobody has said it."""
    reference: str | None = None
    """An answer that is known to be right, if there is one."""
    first_by: str | None = None
    """Who wrote the first answer, if that is known."""
    second_by: str | None = None
    """Who wrote the second one."""
    slice: str | None = None
    """Value of the tag column (`slice_by`)."""
    cluster: str | None = None
    """Pairs of one instruction or document share it."""


Sample = TextSample | SummaryPair | AnswerPair


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One sample in one test: two prompts for the model, or the reason why there are none."""

    id: str
    """`<probe>/<sample id>`, then `/<number or name>` where a sample has several, or `/control`; then `/w2`, … for the
    wording where a test has several; then `#2`, … for repeats."""
    sample_id: str
    """The sample that it was made from."""
    probe: str
    """Name of the probe, as in `PROBES`."""
    version: str
    """Version of the probe that made it."""
    original: str
    """The unchanged text, as people read it."""
    perturbed: str | None
    """The changed text; None when the case is skipped."""
    original_prompt: str
    """What the model is sent for the original."""
    perturbed_prompt: str | None
    """What the model is sent for the perturbation; None when the case is skipped."""
    scorer: str
    """How the trial will be scored; one of the probe's scorers."""
    asks: Asks
    """`generate` a reply, or `choose` among `labels` by their log-likelihood."""
    loss_of: LossOf | None = None
    """Which text's mean per-token loss the scorer needs, if any."""
    labels: tuple[str, ...] = ()
    """Letters that stand for the options in the prompts: A, B, …"""
    options: tuple[str, ...] = ()
    """Option texts of the original prompt, in the order of `labels`."""
    context: str | None = None
    """What stands above the text in both prompts; None if there is nothing."""
    options_after: tuple[str, ...] = ()
    """Option texts of the changed prompt, in the same order, if they differ."""
    answers: tuple[str, ...] = ()
    """Accepted answers to the original, any of which is right; empty when none is known."""
    answers_after: tuple[str, ...] = ()
    """Accepted answers to the changed prompt, if the relation names them."""
    skip_reason: str | None = None
    """Why the sample cannot be perturbed; None when it was."""
    confidence: str | None = None
    """`high` or `medium`: how sure the perturbation is to mean what it should."""
    slice: str | None = None
    """The sample's slice."""
    cluster: str | None = None
    """The sample's cluster."""
    chance: float | None = None
    """Probability, 0 to 1, that a model passes which guesses among the options; None if nothing can be guessed."""
    control: bool = False
    """A change of the wording that keeps the meaning: the answer should stay as it was."""
    repeat: int = 0
    """Which of several replies to the same prompts it asks for."""
    wording: int | None = None
    """Number of the wording that asks it, from 1; None if the test has one wording."""
    also_in_words: bool = False
    """Whether the original prompt is also answered in words, beside a choice by likelihood."""
    also_again: bool = False
    """Whether both prompts are asked once more: what differs then is noise of the model."""
    details: Mapping[str, str] = field(default_factory=dict)
    """What the probe itself needs again when it scores."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """The token counts of one or more model calls."""

    calls: int = 0
    """Requests made."""
    prompt_tokens: int = 0
    """Tokens read by the model."""
    completion_tokens: int = 0
    """Tokens written by the model."""

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            calls=self.calls + other.calls,
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
        )

    def __sub__(self, other: Usage) -> Usage:
        return Usage(
            calls=self.calls - other.calls,
            prompt_tokens=self.prompt_tokens - other.prompt_tokens,
            completion_tokens=self.completion_tokens - other.completion_tokens,
        )


def add_usages(usages: Iterable[Usage]) -> Usage:
    """Return the sum of usages."""
    return sum(usages, Usage())


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """A model's reply to one prompt; if `error` is set, there is no reply."""

    text: str | None = None
    """The reply, or the label chosen by likelihood."""
    option_loglikelihoods: tuple[float, ...] | None = None
    """Log-likelihood of each label, in nats, in the order of `Case.labels`."""
    label_mass: float | None = None
    """Share of the next token's probability that lies on the labels in all their spellings, 0 to 1. Of an endpoint that
    lists only the likeliest tokens it is a lower bound. None if no labels were compared, or it is unknown."""
    loss: float | None = None
    """Mean per-token loss, in nats, of the text named by `Case.loss_of`."""
    constrained: bool = False
    """Whether the endpoint was held to one of the labels: the text is the label, and needs no reading."""
    usage: Usage = Usage()
    """What it took."""
    error: str | None = None
    """Why there is no answer; None when there is one."""
    asked_back: str | None = None
    """What the model said when it was asked which option `text` chooses; None if it was not, or gave no answer.
    Where rules read the choice, it decides nothing."""
    in_words: str | None = None
    """Beside log-likelihoods: its reply to the same prompt; None if none was asked for, or none came."""
    again: str | None = None
    """Its reply when the same prompt was asked once more; None if it was not, or none came."""
    passages: tuple[str, ...] | None = None
    """What an application retrieved for the reply, texts or ids in their order; None if it did not say."""
    outcome: ReplyOutcome = "answered"
    """What the endpoint says of the reply; with `error` set, `malformed` where something came that is no reply."""

    @property
    def is_cut_off(self) -> bool:
        """Return whether the reply is known to have ended too early."""
        return self.outcome == "cut_off"

    @property
    def is_unread(self) -> bool:
        """Return whether there is no reply to read, because of an error, a filter, a refusal or an empty text."""
        if self.error is not None or self.outcome in WITHHELD:
            return True
        return self.outcome != "answered" and not (self.text and self.text.strip())


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A case with the model's two completions."""

    case: Case
    """The case that was asked."""
    expected: Completion
    """For the original prompt."""
    actual: Completion
    """For the perturbed prompt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowUp:
    """A question to the reader model: which option does a reply choose?"""

    case_id: str
    """The case that was asked."""
    side: Side
    """Which of its replies."""
    prompt: str
    """What the model is asked about it."""
    known: str | None = None
    """What rules read in it, a letter or `none`: its answer only shows how well the model reads. None if nothing
    could be read, and its answer is the choice."""
    made_up: bool = False
    """Whether it quotes a made-up reply, which says what `known` says: its answer belongs to no reply of the case."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """The outcome of one trial; `passed` is None if it is unclear."""

    value: float | None
    """The eval_score; None when it cannot be computed."""
    passed: bool | None
    """True, False, or None when the trial is unscored."""
    reason: str
    """One sentence: what decided."""
    undecided: bool = False
    """Whether the replies leave open what the model chose or said: a verdict holds whichever way the trial would have
    gone, although the design documents say of `passed` what they say."""
    chance: float | None = None
    """The value of `Case.chance` if it depends on the replies; None: as in the case."""
    columns: Mapping[str, str | float | int | bool | None] = field(default_factory=dict)
    """The probe's own result columns, named in `Probe.columns`."""
    expected_result: str | None = None
    """What people read as the reply to the original, when it differs from the raw text."""
    actual_result: str | None = None
    """What people read as the reply to the perturbed prompt, when it differs from the raw text."""


class Call(TypedDict):
    """One model call of the run itself, not taken from the cache."""

    prompt: str
    """As it was asked, raw."""
    seconds: float
    """Wall time of the answered request."""
    prompt_tokens: int
    """Tokens read."""
    completion_tokens: int
    """Tokens written."""
    cost: float | None
    """US dollars; None if the price is unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Calls:
    """The slowest and the largest calls, a few of each kind, the largest first."""

    slowest: tuple[Call, ...] = ()
    dearest: tuple[Call, ...] = ()
    """By cost, or by tokens if the price is unknown."""
