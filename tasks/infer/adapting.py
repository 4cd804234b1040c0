"""How a model's endpoint must be asked: with which settings changed, and in which form for letters.

It is found out once for all runs on a store, with questions that are asked anyhow, before answers are looked up.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import NamedTuple, cast, get_args

from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.core.errors import ModelError
from contrapose.tasks.core.questions import Form, Question
from contrapose.tasks.core.records import Case
from contrapose.tasks.infer.ask import asked, besides, for_letters, read_instead
from contrapose.tasks.infer.base import Adapts, AskedKind, Constrains, Model, Provider, TriedOut, TriesOut
from contrapose.tasks.infer.broker import StoreBroker
from contrapose.tasks.infer.keys import Changes, Keys, key_of_parameters
from contrapose.tasks.store import Store

POLL_SECONDS = 0.2
"""How often to look whether another run has found it out."""

PLAIN: tuple[Form, ...] = ("plain",)


def forms_of(provider: Provider, spec: ModelSpec) -> tuple[Form, ...]:
    """The forms that a model may be asked in, in the order in which they are tried; a single one is certain."""
    return tuple(provider.forms(spec)) if isinstance(provider, Constrains) else PLAIN


def known_form(forms: Sequence[Form], keys: Keys) -> Form:
    """The form that a run would ask in, as far as the store knows; nothing is asked."""
    return forms[0] if len(forms) == 1 else cast("Form | None", Store().forms.find(keys.of_forms(forms))) or "plain"


def known_changes(provider: Provider, spec: ModelSpec) -> Changes:
    """The settings with which a run would ask, as far as the store knows; nothing is asked."""
    if not isinstance(provider, Adapts):
        return {}
    notes = (Store().forms.find(_key(provider, spec, kind)) for kind in get_args(AskedKind))
    return {name: value for note in notes if note for name, value in json.loads(note).items()}


def readable(cases: Sequence[Case], provider: Provider, spec: ModelSpec) -> Sequence[Case]:
    """The cases; those that compare likelihoods are read instead where the model gives none."""
    if provider.likelihoods(spec) != "none":
        return cases
    return [read_instead(case) if case.asks == "choose" else case for case in cases]


class Adapted(NamedTuple):
    """How cases are asked."""

    cases: Sequence[Case]
    """The same; those that compare likelihoods are read instead where the endpoint gives none."""
    form: Form | None
    """In which letters are asked for; None where none is, or nothing could be found out."""
    changes: Changes
    """Settings that the endpoint makes necessary."""


def adapted(
    cases: Sequence[Case],
    broker: StoreBroker,
    *,
    model: Callable[[], Model],
    provider: Provider,
    only_likelihoods: bool = False,
) -> Adapted:
    """How the endpoint of a model is asked about cases; the broker is adapted to it.

    Args:
        cases: what is about to be asked.
        broker: between the model and the store.
        model: opens the model with the settings of the broker; called only when something is not known yet.
        provider: of the model.
        only_likelihoods: whether cases that compare likelihoods must not be read instead.

    Raises:
        ModelError: the endpoint refuses what no setting makes up for, or likelihoods that are indispensable.
    """
    adapting = Adapting(broker, model, provider)
    choices = [question for question in asked(cases) if question.kind == "choose"]
    adapting.settle("choose", choices, PLAIN)
    if only_likelihoods and choices and provider.likelihoods(broker.keys.spec) == "none":
        raise ModelError(
            "the endpoint gives no log-probabilities, and a test reads nothing else (read_with: likelihood)",
            expected="an endpoint that gives them, or a test that reads replies",
            remedy="Set model_args.logprobs: false, and read_with: auto, ask or reply.",
            where=broker.model,
        )
    cases = readable(cases, provider, broker.keys.spec)
    form = adapting.settle_replies(cases, forms_of(provider, broker.keys.spec))
    for kind, text in adapting.remarks().items():
        broker.warn(kind, text)
    return Adapted(cases, form, adapting.changes)


def adapt(
    questions: Sequence[Question], broker: StoreBroker, *, model: Callable[[], Model], provider: Provider
) -> None:
    """Adapt a broker to how the endpoint of a model takes questions that want a reply.

    Raises:
        ModelError: the endpoint refuses what no setting makes up for.
    """
    adapting = Adapting(broker, model, provider)
    adapting.settle("generate", questions, PLAIN)
    for kind, text in adapting.remarks().items():
        broker.warn(kind, text)


class Adapting:
    """Finds out how an endpoint must be asked, while no other run on the store does."""

    def __init__(self, broker: StoreBroker, model: Callable[[], Model], provider: Provider) -> None:
        self.broker, self.model, self.provider = broker, model, provider
        self.changes: Changes = {}
        """Those that are known."""
        self._tried: Form | None = None
        self._found_none = False

    def settle_replies(self, cases: Sequence[Case], forms: Sequence[Form]) -> Form | None:
        """Have it known how replies are asked for; returns the form for letters, None where there is none."""
        letters = for_letters(cases, form=forms[0]) if forms != PLAIN else []
        replies = [question for question in (*asked(cases), *besides(cases)) if question.kind == "generate"]
        if not letters:
            self.settle("generate", replies, PLAIN)
            return None
        if self.broker.keys.spec.generation.stop:
            # What ends replies is no part of some forms, and so has to be tried without one.
            plain = {question.plain for question in letters}
            self.settle("generate", sorted(replies, key=plain.__contains__), PLAIN)
        if (known := self._known(self.broker.keys.of_forms(forms))) is not None:
            # Such as by a batch, or an older version: answers in that form show which parameters were taken.
            form = cast("Form", known)
            self.settle("generate", for_letters(cases, form=form), (form,))
        self.settle("generate", letters, forms)
        return self.form_for(letters, forms)

    def settle(self, kind: AskedKind, questions: Sequence[Question], forms: Sequence[Form]) -> None:
        """Have it known which settings questions of a kind make necessary; of several forms, find one with them."""
        if not questions or not isinstance(self.provider, Adapts):
            return
        provider = self.provider
        keys = {known: _key(provider, self.broker.unchanged.spec, known) for known in get_args(AskedKind)}

        def find_out() -> str | None:
            # What is known of questions of the other kind need not be refused once more.
            for note in filter(None, map(self._known, keys.values())):
                self.changes = {**provider.concerning(json.loads(note), kind), **self.changes}
            self.broker.adapt(self.changes)
            tried = self._try_out(questions, forms, changes=self.changes)
            if len(forms) > 1:
                self._found_none = tried.form is None
                if tried.form is not None and tried.changes is not None:
                    self._note(self.broker.keys.of_forms(forms), tried.form)
            return None if tried.changes is None else json.dumps(provider.concerning(tried.changes, kind))

        note = self._known_or(keys[kind], find_out)
        self.changes = {**self.changes, **(json.loads(note) if note else {})}
        self.broker.adapt(self.changes)

    def form_for(self, questions: Sequence[Question], forms: Sequence[Form]) -> Form | None:
        """The form in which letters are asked for; None where nothing could be found out.

        Args:
            questions: in the first of the forms.
            forms: of the model, as `forms_of` has them.
        """
        if len(forms) == 1:
            return forms[0]
        if self._found_none:
            return None

        def find_out() -> Form | None:
            return self._try_out(questions, forms, changes=None).form

        return cast("Form | None", self._known_or(self.broker.keys.of_forms(forms), find_out))

    def remarks(self) -> dict[str, str]:
        """What people should know of the changed settings, by its kind."""
        return dict(self.provider.remarks(self.changes)) if isinstance(self.provider, Adapts) else {}

    def _known_or(self, key: str, find_out: Callable[[], str | None]) -> str | None:
        """What is noted under a key, else what is found out; None where that is nothing."""
        while (known := self._known(key)) is None and not self.broker.stopped:
            with self._alone(key) as alone:
                if alone:
                    if (known := self._known(key) or find_out()) is not None:
                        self._note(key, known)
                    return known
            time.sleep(POLL_SECONDS)
        return known

    def _known(self, key: str) -> str | None:
        return Store().forms.find(key, run=self.broker.run if self.broker.again else None)

    def _note(self, key: str, note: str) -> None:
        # Replies that told it are answers, which other runs look up as soon as they know it.
        self.broker.written()
        Store().forms.note(key, note, model=self.broker.model, run=self.broker.run, again=self.broker.again)

    @contextmanager
    def _alone(self, key: str) -> Iterator[bool]:
        """Whether nobody else is finding it out; held until it is noted."""
        alone = self.broker.claims.claim([key]) == {key}
        try:
            yield alone
        finally:
            if alone:
                self.broker.claims.drop(key)

    def _try_out(self, questions: Sequence[Question], forms: Sequence[Form], *, changes: Changes | None) -> TriedOut:
        """What the endpoint shows, or answers that were kept by a run which ended before it could note it."""
        known = self.changes if changes is None else changes
        if (form := self._kept(questions, forms)) is not None:
            return TriedOut(form, known)
        model = self.model()
        if not isinstance(model, TriesOut):
            return TriedOut("plain", known)
        plain = self.broker.kept([question.plain for question in questions]) if len(forms) > 1 else {}
        replies = [plain.get(question.plain) for question in questions]
        if plain and all(reply is not None and (reply.is_unread or not reply.text) for reply in replies):
            # Replies without text told nothing of a form, and would tell nothing again.
            return TriedOut(None, known)
        # Questions that were never answered come first, since their replies are new.
        new_first = sorted(questions, key=lambda question: question.plain in plain)
        tried = model.try_out(new_first, forms, self.broker, changes=changes)
        # Of two plain answers the older one counts, here as in the store.
        self.broker.answers |= {question: plain[question] for question in plain if question in self.broker.answers}
        return tried

    def _kept(self, questions: Sequence[Question], forms: Sequence[Form]) -> Form | None:
        """The form of an answer that was kept."""
        in_forms = (replace(question, form=form) for form in forms[:-1] for question in questions)
        answers = self.broker.kept(list(in_forms)) if len(forms) > 1 else {}
        return next((question.form for question, completion in answers.items() if completion.constrained), None)


def _key(provider: Adapts, spec: ModelSpec, kind: AskedKind) -> str:
    return key_of_parameters({"kind": kind, **provider.parameters(spec, kind)})
