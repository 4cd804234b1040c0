"""In which form a model is asked for letters: found out once for all runs on a store, before anything is looked up."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.core.questions import Form, Question
from contrapose.tasks.core.records import Case
from contrapose.tasks.infer.ask import for_letters
from contrapose.tasks.infer.base import Constrains, FindsForm, Model, Provider
from contrapose.tasks.infer.broker import StoreBroker
from contrapose.tasks.infer.keys import Keys
from contrapose.tasks.store import Store

POLL_SECONDS = 0.2
"""How often to look whether another run has found it out."""

PLAIN: tuple[Form, ...] = ("plain",)


def forms_of(provider: Provider, spec: ModelSpec) -> tuple[Form, ...]:
    """The forms that a model may be asked in, in the order in which they are tried; a single one is certain."""
    return tuple(provider.forms(spec)) if isinstance(provider, Constrains) else PLAIN


def known_form(forms: Sequence[Form], keys: Keys) -> Form:
    """The form that a run would ask in, as far as the store knows; nothing is asked."""
    return forms[0] if len(forms) == 1 else Store().forms.find(keys.of_forms(forms)) or "plain"


def form_for(
    cases: Sequence[Case], broker: StoreBroker, *, model: Callable[[], Model], forms: Sequence[Form]
) -> Form | None:
    """The form in which letters are asked for.

    Args:
        cases: what is about to be asked.
        broker: between the model and the store.
        model: opens the model; called only when nobody knows the form yet.
        forms: of the model, as `forms_of` has them.

    Returns:
        None where no letter is asked for, the model holds its replies to nothing, or nothing could be found out.
    """
    questions = for_letters(cases, form=forms[0])
    if not questions or list(forms) == ["plain"]:
        return None
    if len(forms) == 1:
        return forms[0]
    return _Finding(broker, forms).form(questions, model)


class _Finding:
    """Finds out a form, while no other run on the store does."""

    def __init__(self, broker: StoreBroker, forms: Sequence[Form]) -> None:
        self.broker, self.forms = broker, forms
        self._table, self._key = Store().forms, broker.keys.of_forms(forms)

    def form(self, questions: Sequence[Question], model: Callable[[], Model]) -> Form | None:
        """What is known, else what some of the questions tell; None where they tell nothing."""
        while (known := self._known()) is None and not self.broker.stopped:
            with self._alone() as alone:
                if alone:
                    return self._known() or self._find_out(questions, model)
            time.sleep(POLL_SECONDS)
        return known

    def _known(self) -> Form | None:
        return self._table.find(self._key, run=self.broker.run if self.broker.again else None)

    @contextmanager
    def _alone(self) -> Iterator[bool]:
        """Whether nobody else is finding it out; held until it is noted."""
        alone = self.broker.claims.claim([self._key]) == {self._key}
        try:
            yield alone
        finally:
            if alone:
                self.broker.claims.drop(self._key)

    def _find_out(self, questions: Sequence[Question], model: Callable[[], Model]) -> Form | None:
        form = self._kept(questions) or self._asked(questions, model())
        if form is not None:
            # Replies that told the form answer plain questions, which other runs ask as soon as they know it.
            self.broker.written()
            self._table.note(self._key, form, model=self.broker.model, run=self.broker.run, again=self.broker.again)
        return form

    def _kept(self, questions: Sequence[Question]) -> Form | None:
        """The form of an answer that was kept by a run which ended before it could note the form."""
        in_forms = (replace(question, form=form) for form in self.forms[:-1] for question in questions)
        answers = self.broker.kept(list(in_forms))
        return next((question.form for question, completion in answers.items() if completion.constrained), None)

    def _asked(self, questions: Sequence[Question], model: Model) -> Form | None:
        """What the endpoint shows; questions that were never answered come first, since their replies are new."""
        if not isinstance(model, FindsForm):
            return "plain"
        plain = self.broker.kept([question.plain for question in questions])
        if all(question.plain in plain and not plain[question.plain].text for question in questions):
            # Replies without text told nothing of a form, and would tell nothing again.
            return None
        new_first = sorted(questions, key=lambda question: question.plain in plain)
        form = model.find_form(new_first, self.forms, self.broker)
        # Of two plain answers the older one counts, here as in the store.
        self.broker.answers |= {question: plain[question] for question in plain if question in self.broker.answers}
        return form
