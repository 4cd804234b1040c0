"""Find out which parameters an endpoint refuses, and in which form it restricts replies to labels."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeGuard

from contrapose.tasks.core.errors import ModelError
from contrapose.tasks.core.questions import Form, Question
from contrapose.tasks.infer.asking.asker import Asker, Tries
from contrapose.tasks.infer.asking.outcomes import Failure, Reply
from contrapose.tasks.infer.keys import Changes
from contrapose.tasks.infer.openai.bodies import RequestBodies
from contrapose.tasks.infer.openai.refusals import ParameterRefusal
from contrapose.tasks.infer.openai.response_parsing import is_json_reply

# The search is decision 22. A form is tried on one question at a time; its reply shows:
#
# - the label alone, as the form has it: the form is found;
# - free text: the field was ignored, and this is the reply to the plain question. A server that ignores a schema goes
#   by no field of the kind; of the two forms of choices each server knows one at most, so the next question tries the
#   other;
# - a refusal or no text: this is the question's answer in every form, and the next question shows more;
# - a refused request: the same question is asked in the next form, at last plainly. Only where one of these is answered
#   was it the form that was refused;
# - broken JSON: the server cannot be relied on. It is no reply to the plain question, and counts as refused;
# - an error of the server's own, `SERVER_ERRORS` times in a row: the question is asked plainly.

SERVER_ERRORS = 4
"""Where each request fails with 20 % by itself, a form is taken for the cause in 0.2 % of all cases."""
MOST_REFUSED = 2
"""Questions that are refused with a parameter and without it, after which no other one is asked."""
MOST_FAILED = 3
"""Questions that are refused for other reasons, after which the others are asked as they are."""
LOGPROBS = "model_args.logprobs"
MOST_SILENT = 3
"""Replies without text after which to stop trying: the next run may find out, this one asks plainly."""
LEAST_RETRIES = 2
"""With fewer, a server's error tells nothing of a form: there is no request left to compare with."""


class FormFinder:
    """Finds out which parameters to leave out and which form to use, by trying; see `TriesOut.try_out`.

    It changes broker and bodies accordingly.
    """

    asker: Asker
    """Makes the requests, once `find` has begun."""

    def __init__(self, forms: Sequence[Form], bodies: RequestBodies, *, changes: Changes | None) -> None:
        self._bodies = bodies
        self.form: Form | None = None
        """The form that was found; None until then."""
        self.changes: Changes | None = {} if changes is None else None
        """The settings with which the endpoint answers; None until it does."""
        self.refusal: ModelError | None = None
        """The refusal that no setting makes up for, if there is one."""
        self._start = self._now = dict(changes or {})
        self._adopted: list[ParameterRefusal] = []
        self._left, self._last = list(forms[:-1]), forms[-1]
        self._free = self._hopeless = False
        self._silent = self._failed = 0
        self._refusals: list[ModelError] = []

    async def find(self, asker: Asker, questions: Sequence[Question]) -> None:
        """Ask questions until everything is known, no question is left, or the run stops."""
        self.asker = asker
        for question in questions:
            if self.asker.broker.stopped:
                return
            # Parameters that were left out for a question that was refused nevertheless were not the reason.
            self._adopted, self._hopeless = [], False
            if self.changes is None and self._now != self._start:
                self._now = self._start
                self._bodies.adapt(self.asker.broker.adapt(self._now))
            tries = Tries()
            with self.asker.keep_spending(self._convert_to_last(question), tries):
                self.form = await self._try_question(question, tries)
            if self.form is not None or self._silent == MOST_SILENT:
                return
            if self.changes is None:
                if self._adopted and not self._hopeless:
                    self._refusals.append(self._error(self._adopted[-1]))
                if len(self._refusals) >= min(MOST_REFUSED, len(questions)):
                    self.refusal = self._refusals[-1]
            if self.refusal is not None or (not self._left and self._failed >= MOST_FAILED):
                return
        # There were fewer questions than forms to try: all that were answered are plain ones.
        self.form = "plain" if self._free and not self.asker.broker.stopped else None

    def _error(self, refusal: ParameterRefusal) -> ModelError:
        """Return the error for a parameter that is still refused after every change."""
        tried = next((adopted for adopted in self._adopted if adopted.parameter == refusal.parameter), None)
        return (tried or refusal).make_error(self._bodies.spec.id, tried=tried is not None)

    async def _try_question(self, question: Question, tries: Tries) -> Form | None:
        """Ask one question in each form until it is answered; return the form if the answer shows that it works."""
        retries = self.asker.endpoint.settings.retries
        patience = min(SERVER_ERRORS, retries) if retries >= LEAST_RETRIES else None
        last: Reply | Failure | None = None
        refused: list[Form] = []
        for form in self._left:
            asked = replace(question, form=form)
            if not await self._may_ask(asked):
                # Somebody else asks it, or has asked: another question tells as much.
                self._put_unanswered(question, last, tries)
                return None
            last = await self._request(asked, tries, patience=patience)
            if isinstance(last, Reply) and self._is_answer(asked, last):
                return self._accept(asked, last, tries, refused)
            if self._hopeless or (not isinstance(last, Reply) and not _blames_form(last)):
                self._put_answer(question.plain, last, tries)
                return None
            refused.append(form)
            # Further forms are not worth trying at a server that fell over, or that ignored the schema.
            if not is_json_reply(last.completion.text or "") if isinstance(last, Reply) else last.is_server_error:
                break
        return await self._try_last(self._convert_to_last(question), last, tries)

    async def _request(self, asked: Question, tries: Tries, *, patience: int | None = None) -> Reply | Failure | None:
        """Return the outcome of a question; leave out refused parameters as long as that helps."""
        while True:
            outcome = await self.asker.request(asked, tries, patience=patience)
            if isinstance(outcome, Reply) and outcome.completion.outcome != "moderated":
                self._confirm()
            if self.changes is not None or not isinstance(outcome, Failure):
                return outcome
            named = outcome if isinstance(outcome, ParameterRefusal) else None
            if named is not None and named.parameter == "form" and self._last == "plain":
                # Another form, or none, is what to try next.
                named = None
            if named is None or not self._adopt(named):
                # Said again of a request without it, or of one that nothing can be left out of.
                self._hopeless = named is not None or any(outcome.message == adopted.said for adopted in self._adopted)
                if self._hopeless:
                    self._refusals.append(self._error(named or self._adopted[-1]))
                return outcome
            if asked.kind == "choose" and LOGPROBS in self._now:
                # Nothing is left to be compared.
                self._confirm()
                return outcome
            if not await self._may_ask(asked):
                # It was answered so before.
                self._put_unanswered(asked, outcome, tries)
                self._confirm()
                return None

    def _adopt(self, refusal: ParameterRefusal) -> bool:
        """Leave out a refused parameter; return False if this is impossible or was tried before."""
        if refusal.change is None or refusal.change[0] in self._now:
            return False
        self._adopted.append(refusal)
        self._now = {**self._now, refusal.change[0]: refusal.change[1]}
        self._bodies.adapt(self.asker.broker.adapt(self._now))
        return True

    def _confirm(self) -> None:
        if self.changes is None and not self.asker.broker.stopped:
            self.changes = self._now

    def _convert_to_last(self, question: Question) -> Question:
        """Return a question in the last form, which is used if no other form works."""
        return question.plain if question.form != "plain" and self._last == "plain" else question

    def _is_answer(self, asked: Question, reply: Reply) -> bool:
        """Return whether a reply answers the question, in its form or as plain text."""
        completion = reply.completion
        if completion.constrained or completion.is_unread or not completion.text or asked.form != "json_schema":
            return True
        return not (is_json_reply(completion.text) or self._bodies.changes_replies(asked.form))

    def _accept(self, asked: Question, reply: Reply, tries: Tries, refused: Sequence[Form]) -> Form | None:
        """Put an answer, and return the form that it shows to work."""
        completion = reply.completion
        self._put_answer(asked if completion.constrained else asked.plain, reply, tries)
        if completion.constrained:
            return asked.form
        if completion.is_unread or not completion.text:
            self._silent += 1
            return None
        self._free = True
        self._left = [form for form in self._left if form != asked.form and form not in refused]
        return "plain" if asked.form == "json_schema" or not self._left else None

    async def _try_last(self, question: Question, last: Reply | Failure | None, tries: Tries) -> Form | None:
        """Ask a question in the last form; return this form if there is an answer."""
        if not await self._may_ask(question):
            self._put_unanswered(question, last, tries)
            # If it was answered before, the prompt was not what was refused; once stopped, nothing is ours to ask.
            self._confirm()
            return None if self.asker.broker.stopped else self._last
        outcome = await self._request(question, tries)
        if outcome is None and self.changes is not None:
            return self._last
        self._put_answer(question, outcome, tries)
        if isinstance(outcome, Reply):
            moderated = outcome.completion.outcome == "moderated"
            self._silent += moderated
            return None if moderated else self._last
        self._failed += 1 if _blames_prompt(outcome) else MOST_FAILED
        return self._last if question.kind == "choose" and LOGPROBS in (self.changes or {}) else None

    async def _may_ask(self, question: Question) -> bool:
        """Return whether this run may ask a question now; in a thread, because the broker may wait for a database."""
        return bool(await asyncio.to_thread(self.asker.broker.take, [question]))

    def _put_unanswered(self, question: Question, last: Reply | Failure | None, tries: Tries) -> None:
        """Count requests without an answer, for a question that another run answers."""
        if last is not None:
            self._put_answer(replace(question, prompt=""), last, tries)

    def _put_answer(self, question: Question, outcome: Reply | Failure | None, tries: Tries) -> None:
        if (answer := self.asker.make_answer(question, outcome, tries)) is not None:
            self.asker.broker.put([answer])


def _blames_form(failure: Failure | None) -> TypeGuard[Failure]:
    """Return whether the failure may be due to the form, so that a plain question may be answered."""
    if failure is None:
        return False
    return _blames_prompt(failure) or failure.is_server_error or isinstance(failure, ParameterRefusal)


def _blames_prompt(failure: Failure | None) -> bool:
    """Return whether the endpoint refused a request because of its prompt or its parameters."""
    return failure is not None and failure.then == "give up" and 400 <= (failure.status or 0) < 500
