"""Base class of tests that edit a text (`TextEdit`), and the controls of these tests."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple

from contrapose.tasks.core.records import (
    CONTROL_KIND,
    Case,
    Completion,
    FollowUp,
    Likelihoods,
    Score,
    Side,
    TextSample,
    Trial,
)
from contrapose.tasks.language.closed import words
from contrapose.tasks.language.english import DICTIONARIES, is_english
from contrapose.tasks.probes.answers.answer_probe import AnswerProbe
from contrapose.tasks.probes.answers.settings import LOSS_OF, AnswerSettings
from contrapose.tasks.probes.base import UNRELATED_NOT, Embed, control_of, has_equals, make_confidence_error
from contrapose.tasks.probes.prompt_settings import prompts_for

ADVERBIALS = ("To begin: ", "First of all: ", "Next: ", "Now this one: ", "To go on: ")
"""Openings that add nothing to the meaning of a text."""
POLITE_BEFORE = ("Please note: ", "Please consider this: ", "Please have a look at this: ", "Thank you for your help. ")
POLITE_AFTER = (" Thank you.", " Many thanks.", " Thanks in advance.")
PROCEDURE = (
    "This is not a trick question.",
    "You are not being timed.",
    "You do not need to hurry.",
    "You don't have to hurry.",
    "This does not count towards a grade.",
    "It does not matter how long this takes.",
    "The time is not limited.",
    "Nobody else will read this, so do not be nervous.",
)
"""Sentences about the procedure alone: they do not change which answers are right."""
OF_THE_REPLY = (
    "Do not explain your answer.",
    "You do not have to give reasons.",
    "Please do not repeat the question.",
    "Don't write anything else.",
)
"""Sentences about the form of the reply: without options they would change the words of the answer."""

_FINISHED = re.compile(r"[.?!][\"'”’)\]]*\s*\Z")
_JOINED = re.compile(
    r"(?P<before>(?:.*[.?!] )?)(?P<word>If|When|Because|Although|After|Before|Once|Unless|In|On|During) "
    r"(?P<rest>[\w'’ -]+), (?P<main>[\w'’ -]+)(?P<mark>[.?])",
    re.DOTALL,
)
_HINDER = words(
    "he she it they him her them his its their theirs this that these those who whom whose which and or but to because "
    "when if after before while although unless once there then so not"
)
"""Words of a main clause after which a moved clause could refer to something else."""
_MOST_WORDS = 9
"""Most words of a main clause: after a longer one, the moved clause is too far from its place."""


class Control(NamedTuple):
    """A control: a changed text that has the same answer as the original."""

    kind: str
    """How it differs: `adverbial`, `polite`, `punctuation`, `clause_order` or `unrelated_not`."""
    text: str


def make_reworded_control(text: str, *, rng: random.Random, options: bool) -> Control:
    """Return the text with a random change of wording that fits it, such as a polite phrase."""
    kinds = rng.sample(sorted(_KINDS), len(_KINDS))
    changed = ((kind, _KINDS[kind](text, rng, options)) for kind in kinds)
    return next(Control(kind, twin) for kind, twin in changed if twin is not None and twin != text)


def make_unrelated_not_control(text: str, *, rng: random.Random, options: bool) -> Control:
    """Return the unchanged text with a sentence before or after it that has a "not" about the procedure.

    The sentence may follow only a question, because after a statement it could seem to be part of it.
    """
    sentence = rng.choice(PROCEDURE + OF_THE_REPLY if options else PROCEDURE)
    blank = "\n" if "\n" in text.strip() else " "
    behind = text.rstrip().endswith("?") and rng.random() < 1 / 2
    joined = f"{text.rstrip()}{blank}{sentence}" if behind else f"{sentence}{blank}{text}"
    return Control(UNRELATED_NOT, joined)


def _add_polite_words(text: str, rng: random.Random, options: bool) -> str:
    if _FINISHED.search(text) and rng.random() < 1 / 2:
        return text.rstrip() + rng.choice(POLITE_AFTER)
    return rng.choice(POLITE_BEFORE) + text


def _change_end_mark(text: str, rng: random.Random, options: bool) -> str | None:
    """Remove the last full stop or question mark, or end an unfinished text with ":" or "…"."""
    text = text.rstrip()
    if text[-1:] in (".", "?") and text[-2:-1].isalnum() and not re.search(r"\b\w\.\w\.\Z|\b[A-Z]\.\Z", text):
        return text[:-1]
    return text + (":" if options else " …") if text[-1:].isalnum() else None


def _swap_clauses(text: str, rng: random.Random, options: bool) -> str | None:
    """Move the first clause of the last sentence to its end; None if that might change the meaning."""
    parts = _JOINED.fullmatch(text.strip())
    main = parts["main"].split() if parts else []
    if parts is None or len(main) > _MOST_WORDS or not _HINDER.isdisjoint(word.lower() for word in main):
        return None
    opened = f"{parts['main'][0].upper()}{parts['main'][1:]}"
    return f"{parts['before']}{opened} {parts['word'].lower()} {parts['rest']}{parts['mark']}"


_KINDS: Mapping[str, Callable[[str, random.Random, bool], str | None]] = {
    "adverbial": lambda text, rng, options: rng.choice(ADVERBIALS) + text,
    "polite": _add_polite_words,
    "punctuation": _change_end_mark,
    "clause_order": _swap_clauses,
}


NEEDS_OPTIONS: Mapping[str, str] = {"no_options": "without answer options", "equal_options": "with two equal options"}
"""Skip reasons of every edit, in words; those of the edits of English follow."""
NEEDS_ENGLISH: Mapping[str, str] = {**NEEDS_OPTIONS, "not_english": "not in English"}
NEEDS_SENTENCE: Mapping[str, str] = {
    **NEEDS_ENGLISH,
    "empty": "without a word",
    "options_in_text": "ending in lettered options, which belong in a column of their own",
    "unbalanced_quotes": "with a quotation mark that has no partner",
}
"""Of an edit in the last sentence."""
NEEDS_MAIN_VERB: Mapping[str, str] = {
    **NEEDS_SENTENCE,
    "no_finite_verb": "without a main verb that the rules know, as in a title",
    "ambiguous_verb": "with several words that could be the main verb",
    "coordinated_clauses": "with several main clauses, of which one edit changes only one",
    "wh_subject_boundary": "asking in a way that leaves the end of the subject unclear",
    "alternative_question": "asking which of two things is true, as in 'Is it A or B?'",
}
"""Of an edit in the main clause."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edited:
    """The result of an edit: the changed text, or the reason why there is none."""

    text: str | None = None
    """The changed text; None when it was skipped."""
    reason: str | None = None
    """Why it was skipped; None when it was not."""
    confidence: str | None = None
    """`high` or `medium`: how sure the change is to do what it should; None when the text was skipped."""
    original: str | None = None
    """What the original prompt must say in the text's place; None: the text itself."""
    answers: tuple[str, ...] = ()
    """Further accepted answers to such an original, such as "True" if "yes" was right."""
    sample: TextSample | None = None
    """The sample whose options and context the changed prompt shows; None: those of the original."""
    replaced: Mapping[str, str] = field(default_factory=dict)
    """Table from new to old words of the changed prompt: replies are read with the old ones."""

    def __post_init__(self) -> None:
        """Raise ConfigError if a changed text has no confidence."""
        if self.text is not None and not self.confidence:
            raise make_confidence_error(f"Edited({self.text[:40]!r})")


REPLACED = "replaced_words"
"""Detail of a case: words of its changed prompt and those of its original, as JSON."""


def replace_words(text: str, replaced: Mapping[str, str]) -> str:
    """Return a text with words replaced; the first word of a sentence keeps its capital, names match with theirs."""
    if not replaced:
        return text
    known = {word.lower(): (word, new) for word, new in replaced.items()}
    listed = "|".join(map(re.escape, sorted(known, key=len, reverse=True)))

    def write(word: re.Match[str]) -> str:
        old, new = known[word[0].lower()]
        if old[0].isupper() and not word[0][0].isupper():
            return word[0]
        return new[0].upper() + new[1:] if word[0][0].isupper() else new

    return re.sub(rf"(?i)(?<![^\W_])(?:{listed})(?![^\W_])", write, text)


def _restore_old_words(trial: Trial) -> Trial:
    """Return a trial whose replies to the changed prompt use the words of the original again."""
    replaced = json.loads(trial.case.details.get(REPLACED, "{}"))
    before = _replace_reply_words(trial.expected, replaced) if trial.case.control else trial.expected
    return replace(trial, expected=before, actual=_replace_reply_words(trial.actual, replaced))


def _replace_reply_words(reply: Completion, replaced: Mapping[str, str]) -> Completion:
    """Return a reply with its words replaced."""
    return reply if reply.text is None else replace(reply, text=replace_words(reply.text, replaced))


def _drop_replaced_words(case: Case) -> dict[str, str]:
    """Return the details of a case without its replaced words."""
    return {name: value for name, value in case.details.items() if name != REPLACED}


class TextEdit(AnswerProbe):
    """A test that makes one edit; a subclass implements `edit`."""

    category: ClassVar[str] = "sensitivity"
    change_column: ClassVar[str] = "answer_changed"
    default_gate: ClassVar[float] = 0.65
    controlled: ClassVar[bool] = True
    rests_on: ClassVar[tuple[str, ...]] = DICTIONARIES
    skip_reasons: ClassVar[Mapping[str, str]] = NEEDS_OPTIONS
    edits_english: ClassVar[bool] = False
    """Whether the edit follows rules or words of English: a text in another language is skipped as `not_english`."""

    def edit(self, text: str, settings: Any, *, rng: random.Random) -> Edited:
        """Return the changed text, or the reason why there is none."""
        raise NotImplementedError

    def can_shrink(self, settings: Any) -> bool:
        """Return whether a failed case can be shrunk: the edit fits any part of a text, and the answer should stay."""
        return self.keeps_answer(settings)

    def change(self, sample: TextSample, settings: Any, *, rng: random.Random) -> Edited:
        """Return the edited text of a sample; its options are never edited."""
        return self.edit(sample.text, settings, rng=rng)

    def cases(
        self, sample: TextSample, settings: AnswerSettings, *, rng: random.Random, likelihoods: Likelihoods
    ) -> Sequence[Case]:
        """Return one case with the text and its edited form as prompts, or with the reason why it is skipped.

        With `documents_scores` a model that can is also asked for the loss that the design documents compare.
        """
        prompts = prompts_for(sample, settings, where=self.where)
        fields = self.scoring_fields(sample, settings, likelihoods)
        if self.edits_english and not is_english(sample.text):
            edited = Edited(reason="not_english")
        elif fields["scorer"] == "choice" and not sample.options:
            edited = Edited(reason="no_options")
        elif has_equals(sample.options):
            edited = Edited(reason="equal_options")
        else:
            edited = self.change(sample, settings, rng=rng)
        original = sample.text if edited.original is None else edited.original
        before, after = prompts.pair(original, edited.text)
        if edited.sample is not None and edited.text is not None:
            after = prompts_for(edited.sample, settings, where=self.where).prompt(edited.text)
        if edited.replaced:
            fields["details"] = {**fields["details"], REPLACED: json.dumps(dict(edited.replaced))}
        case = self.case(
            sample,
            original=original,
            perturbed=edited.text,
            original_prompt=before,
            perturbed_prompt=after,
            labels=prompts.labels,
            answers=(*sample.answers, *edited.answers),
            skip_reason=edited.reason,
            confidence=edited.confidence,
            **fields,
        )
        return [case]

    def control(self, case: Case, sample: TextSample, settings: AnswerSettings, *, rng: random.Random) -> Case | None:
        """Return a control: the same text in other words; `control_kind` names the change."""
        if case.perturbed is None:
            return None
        kind, text = self.control_text(case, rng=rng)
        prompt = prompts_for(sample, settings, where=self.where).prompt(text)
        # A control passes if the guessed answer stays.
        chance = case.chance if case.chance is None or self.stays else 1 - case.chance
        details = {**_drop_replaced_words(case), CONTROL_KIND: kind}
        return control_of(case, perturbed=text, prompt=prompt, chance=chance, confidence="high", details=details)

    def control_text(self, case: Case, *, rng: random.Random) -> Control:
        """Return the text of the control of a case, and its kind."""
        return make_reworded_control(case.original, rng=rng, options=bool(case.options))

    def same_prompt(self, case: Case, side: Side) -> Case:
        """Return a control that compares two replies to one prompt; both use the words of that prompt."""
        same = super().same_prompt(case, side)
        return same if side == "actual" else replace(same, details=_drop_replaced_words(case))

    def score(self, trials: Sequence[Trial], settings: Any, *, embed: Embed) -> list[Score]:
        """Score each trial; in replies to the changed prompt, the original words are restored first."""
        return super().score([_restore_old_words(trial) for trial in trials], settings, embed=embed)

    def follow_ups(self, trials: Sequence[Trial], settings: Any, *, embed: Embed) -> Sequence[FollowUp]:
        """Return questions for the reader model about unreadable replies, in the words of the original."""
        return super().follow_ups([_restore_old_words(trial) for trial in trials], settings, embed=embed)

    def failure(self, row: Mapping[str, Any]) -> str:
        """Return a sentence on what the answer (or its likelihood) did, and what it should have done."""
        before, after = row.get("chosen_before"), row.get("chosen_after")
        named = isinstance(before, str) and isinstance(after, str) and before and after
        answer = "The likelihood of its answer" if row.get("scorer") in LOSS_OF else "Its answer"
        if self.stays:
            did = f"It picked {before}, then {after}" if named and before != after else f"{answer} changed"
            return f"{did}, though the prompt means the same."
        did = f"It picked {before} both times" if named and before == after else f"{answer} stayed the same"
        return f"{did}: the change made no difference."
