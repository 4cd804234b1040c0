"""Find out which settings an endpoint refuses, and in which form it takes questions that want a letter.

One run finds it out for all runs on a store, with questions that it asks anyhow, before it looks up answers.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple, cast, get_args

from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.core.errors import ModelError
from contrapose.tasks.core.questions import Form, Question
from contrapose.tasks.core.records import Case
from contrapose.tasks.infer.ask import list_extras, list_letter_questions, list_questions, switch_to_replies
from contrapose.tasks.infer.base import Adapts, AskedKind, Model, Provider, TriesOut, TryOutcome
from contrapose.tasks.infer.broker import StoreBroker
from contrapose.tasks.infer.keys import Changes, Keys, make_parameters_key
from contrapose.tasks.store import Store

POLL_SECONDS = 0.2
"""How often to check whether another run has found it out."""

PLAIN: tuple[Form, ...] = ("plain",)


def list_forms(provider: Provider, spec: ModelSpec) -> tuple[Form, ...]:
    """Return the forms in which a model may be asked, in the order in which they are tried; a single one is certain."""
    return tuple(provider.forms(spec)) if isinstance(provider, Adapts) else PLAIN


def find_known_form(forms: Sequence[Form], keys: Keys) -> Form:
    """Return the form that a run would use, as far as the store knows; no request is made."""
    return forms[0] if len(forms) == 1 else cast("Form | None", Store().forms.find(keys.hash_forms(forms))) or "plain"


def find_known_changes(provider: Provider, spec: ModelSpec) -> Changes:
    """Return the settings that a run would change, as far as the store knows; no request is made."""
    if not isinstance(provider, Adapts):
        return {}
    notes = (Store().forms.find(_make_key(provider, spec, kind)) for kind in get_args(AskedKind))
    return {name: value for note in notes if note for name, value in json.loads(note).items()}


def convert_if_no_likelihoods(cases: Sequence[Case], provider: Provider, spec: ModelSpec) -> Sequence[Case]:
    """Return the cases; if the model gives no likelihoods, the cases that compare them use replies instead."""
    if provider.likelihoods(spec) != "none":
        return cases
    return [switch_to_replies(case) if case.asks == "choose" else case for case in cases]


class AdaptedCases(NamedTuple):
    """Cases, with the form and the changed settings in which they are asked."""

    cases: Sequence[Case]
    """The same cases; if the endpoint gives no likelihoods, those that compare them use replies instead."""
    form: Form | None
    """Form for letters; None if no case asks for a letter, or nothing could be found out."""
    changes: Changes
    """Settings that must change because the endpoint refuses the usual ones."""


def adapt_to_cases(
    cases: Sequence[Case],
    broker: StoreBroker,
    *,
    model: Callable[[], Model],
    provider: Provider,
    only_likelihoods: bool = False,
) -> AdaptedCases:
    """Find out how the endpoint takes the questions of cases, and set the broker to that."""
    adapting = EndpointAdapter(broker, model, provider)
    choices = [question for question in list_questions(cases) if question.kind == "choose"]
    adapting.find_settings("choose", choices, PLAIN)
    if only_likelihoods and choices and provider.likelihoods(broker.keys.spec) == "none":
        raise ModelError(
            "the endpoint gives no log-probabilities, and a test reads nothing else (read_with: likelihood)",
            expected="an endpoint that gives them, or a test that reads replies",
            remedy="Set model_args.logprobs: false, and read_with: auto, ask or reply.",
            where=broker.model,
        )
    cases = convert_if_no_likelihoods(cases, provider, broker.keys.spec)
    form = adapting.find_reply_form(cases, list_forms(provider, broker.keys.spec))
    adapting.warn()
    return AdaptedCases(cases, form, adapting.changes)


def adapt(
    questions: Sequence[Question], broker: StoreBroker, *, model: Callable[[], Model], provider: Provider
) -> None:
    """Find out how the endpoint takes questions that want a reply, and set the broker to that."""
    adapting = EndpointAdapter(broker, model, provider)
    adapting.find_settings("generate", questions, PLAIN)
    adapting.warn()


class EndpointAdapter:
    """Finds out how an endpoint must be asked, while no other run on the store does the same."""

    def __init__(self, broker: StoreBroker, model: Callable[[], Model], provider: Provider) -> None:
        self.broker, self.model, self.provider = broker, model, provider
        self.changes: Changes = {}
        """Changed settings that are known so far."""
        self._found_none = False

    def find_reply_form(self, cases: Sequence[Case], forms: Sequence[Form]) -> Form | None:
        """Find the settings and the form for replies; return the form for letters, or None if there is none."""
        letters = list_letter_questions(cases, form=forms[0]) if forms != PLAIN else []
        replies = [one for one in (*list_questions(cases), *list_extras(cases)) if one.kind == "generate"]
        if not letters:
            self.find_settings("generate", replies, PLAIN)
            return None
        if self.broker.keys.spec.generation.stop:
            # Texts that end replies are no part of some forms, and so have to be tried without one.
            plain = {question.plain for question in letters}
            self.find_settings("generate", sorted(replies, key=plain.__contains__), PLAIN)
        if (known := self._find_note(self.broker.keys.hash_forms(forms))) is not None:
            # Such as by a batch, or an older version: answers in that form show which parameters were taken.
            form = cast("Form", known)
            self.find_settings("generate", list_letter_questions(cases, form=form), (form,))
        self.find_settings("generate", letters, forms)
        if len(forms) == 1:
            return forms[0]
        if self._found_none:
            return None
        key = self.broker.keys.hash_forms(forms)
        return cast("Form | None", self._find_note_or(key, lambda: self._try_out(letters, forms, changes=None).form))

    def find_settings(self, kind: AskedKind, questions: Sequence[Question], forms: Sequence[Form]) -> None:
        """Find the settings that questions of one kind need; if there are several forms, find one that works."""
        if not questions or not isinstance(self.provider, Adapts):
            return
        provider = self.provider
        keys = {known: _make_key(provider, self.broker.unchanged.spec, known) for known in get_args(AskedKind)}

        def find_changes() -> str | None:
            # Settings that are known of questions of the other kind need not be refused once more.
            for note in filter(None, map(self._find_note, keys.values())):
                self.changes = {**provider.concerning(json.loads(note), kind), **self.changes}
            self.broker.adapt(self.changes)
            tried = self._try_out(questions, forms, changes=self.changes)
            if len(forms) > 1:
                self._found_none = tried.form is None
                if tried.form is not None and tried.changes is not None:
                    self._keep_note(self.broker.keys.hash_forms(forms), tried.form)
            return None if tried.changes is None else json.dumps(provider.concerning(tried.changes, kind))

        note = self._find_note_or(keys[kind], find_changes)
        self.changes = {**self.changes, **(json.loads(note) if note else {})}
        self.broker.adapt(self.changes)

    def warn(self) -> None:
        """Keep warnings about changed settings for the report."""
        if isinstance(self.provider, Adapts):
            for kind, text in self.provider.remarks(self.changes).items():
                self.broker.warn(kind, text)

    def _find_note_or(self, key: str, find_out: Callable[[], str | None]) -> str | None:
        """Return the note under a key; if there is none, find it out while no other run does, or return None."""
        claims = self.broker.claims
        while (known := self._find_note(key)) is None and not self.broker.stopped:
            if claims.claim([key]) == {key}:
                try:
                    if (known := self._find_note(key) or find_out()) is not None:
                        self._keep_note(key, known)
                    return known
                finally:
                    claims.drop(key)
            time.sleep(POLL_SECONDS)
        return known

    def _find_note(self, key: str) -> str | None:
        return Store().forms.find(key, run=self.broker.run if self.broker.again else None)

    def _keep_note(self, key: str, note: str) -> None:
        # Replies that showed it are answers, which other runs look up as soon as they know it.
        self.broker.flush()
        Store().forms.note(key, note, model=self.broker.model, run=self.broker.run, again=self.broker.again)

    def _try_out(self, questions: Sequence[Question], forms: Sequence[Form], *, changes: Changes | None) -> TryOutcome:
        """Return what stored answers show about forms; if they show nothing, ask the endpoint."""
        known = self.changes if changes is None else changes
        if len(forms) > 1:
            in_forms = [replace(question, form=form) for form in forms[:-1] for question in questions]
            for question, completion in self.broker.find_stored(in_forms).items():
                if completion.constrained:
                    return TryOutcome(question.form, known)
        model = self.model()
        if not isinstance(model, TriesOut):
            return TryOutcome("plain", known)
        plain = self.broker.find_stored([question.plain for question in questions]) if len(forms) > 1 else {}
        replies = [plain.get(question.plain) for question in questions]
        if plain and all(reply is not None and (reply.is_unread or not reply.text) for reply in replies):
            # Replies without text showed nothing of a form, and would show nothing again.
            return TryOutcome(None, known)
        # Questions that were never answered come first, since their replies are new.
        new_first = sorted(questions, key=lambda question: question.plain in plain)
        tried = model.try_out(new_first, forms, self.broker, changes=changes)
        # Of two plain answers the older one counts, here as in the store.
        self.broker.answers |= {question: plain[question] for question in plain if question in self.broker.answers}
        return tried


def _make_key(provider: Adapts, spec: ModelSpec, kind: AskedKind) -> str:
    return make_parameters_key({"kind": kind, **provider.parameters(spec, kind)})
