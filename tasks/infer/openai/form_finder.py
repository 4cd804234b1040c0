"""How to find out in which form an endpoint holds replies to a label."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace

from contrapose.tasks.core.questions import Form, Question
from contrapose.tasks.infer.asking.asker import Asker, Tries
from contrapose.tasks.infer.asking.outcomes import Failure, Reply
from contrapose.tasks.infer.asking.pool import Pool
from contrapose.tasks.infer.openai.bodies import Bodies
from contrapose.tasks.infer.openai.replies import shows_schema

# Which form an endpoint takes: the first questions with labels are the test, and their replies are kept.
#
# A form is tried on one question at a time. What its reply shows:
#
# - the label alone, as the form has it: the form is found;
# - free text: the field was ignored, and this is the reply to the plain question. A schema that is ignored says that
#   the server goes by no field of the kind; of the two forms of choices each server knows one at most, so the next
#   question tries the other;
# - a refusal in a field of its own: it is this question's answer, and the next one tells more;
# - a refused request (status 400 or the like): the same question is asked in the next form, at last plainly. Only where
#   one of these is answered was it the form that was refused; otherwise it was the prompt, and the next question tells;
# - no text: it tells nothing of the form; it is the reply to the plain question, which would be cut off as well;
# - broken JSON: the server tried, and cannot be relied on. That is no reply to the plain question, and counts as
#   refused;
# - an error of the server's own, `SERVER_ERRORS` times in a row: the question is asked plainly, with the retries left.


SERVER_ERRORS = 4
"""Where each request fails with 20 % by itself, a form is taken for the cause in 0.2 % of all cases."""
MOST_SILENT = 3
"""Replies without text after which to stop trying: the next run may find out, this one asks plainly."""
LEAST_RETRIES = 2
"""With fewer, a server's error tells nothing of a form: there is no request left to compare with."""


class FormFinder:
    """Tries the forms of an endpoint.

    Args:
        asker: makes the requests.
        forms: to be tried in order; the last is `plain`.
        changes_replies: whether a server that ignores a form still replies otherwise than to a plain question.
    """

    def __init__(self, asker: Asker, forms: Sequence[Form], *, changes_replies: Callable[[Form], bool]) -> None:
        self.asker = asker
        self._changes_replies = changes_replies
        self.form: Form | None = None
        """The form that was found; None until then."""
        self._left = list(forms[:-1])
        self._free = False
        self._silent = 0

    async def find(self, questions: Sequence[Question]) -> None:
        """Ask until the form is known, the questions are used up, or the run stops."""
        for question in questions:
            if self.asker.broker.stopped:
                return
            tries = Tries()
            with self.asker.counting(question.plain, tries):
                self.form = await self._tried(question, tries)
            if self.form is not None or self._silent == MOST_SILENT:
                return
        # There were fewer questions than forms to try: all that were answered are plain ones.
        self.form = "plain" if self._free and not self.asker.broker.stopped else None

    async def _tried(self, question: Question, tries: Tries) -> Form | None:
        """What one question tells, put in every form until it is answered."""
        last: Reply | Failure | None = None
        refused: list[Form] = []
        for form in self._left:
            asked = replace(question, form=form)
            if not await self._may_ask(asked):
                # Somebody else asks it, or has asked: another question tells as much.
                self._without_answer(question, last, tries)
                return None
            last = await self.asker.outcome(asked, tries, patience=self._patience())
            if isinstance(last, Reply) and self._is_answer(asked, last):
                return self._answered(asked, last, tries, refused)
            if not isinstance(last, Reply) and not _blames_form(last):
                self._put(question.plain, last, tries)
                return None
            refused.append(form)
            if self._ends(last):
                break
        return await self._plainly(question, last, tries)

    def _is_answer(self, asked: Question, reply: Reply) -> bool:
        """Whether a reply answers the question, in its form or plainly."""
        completion = reply.completion
        if completion.constrained or completion.is_unread or not completion.text or asked.form != "json_schema":
            return True
        return not (shows_schema(completion.text) or self._changes_replies(asked.form))

    def _ends(self, last: Reply | Failure | None) -> bool:
        """Whether further forms are not worth trying: a server that fell over, or one that ignored the schema."""
        if isinstance(last, Reply):
            return not shows_schema(last.completion.text or "")
        return last is not None and last.fell_over

    def _answered(self, asked: Question, reply: Reply, tries: Tries, refused: Sequence[Form]) -> Form | None:
        completion = reply.completion
        if completion.constrained or completion.outcome == "refused":
            self._put(asked, reply, tries)
            return asked.form if completion.constrained else None
        self._put(asked.plain, reply, tries)
        if completion.is_unread or not completion.text:
            self._silent += 1
            return None
        self._free = True
        self._left = [form for form in self._left if form != asked.form and form not in refused]
        return "plain" if asked.form == "json_schema" or not self._left else None

    async def _plainly(self, question: Question, last: Reply | Failure | None, tries: Tries) -> Form | None:
        if not await self._may_ask(question.plain):
            self._without_answer(question, last, tries)
            # If it was answered before, the prompt was not what was refused; once stopped, nothing is ours to ask.
            return None if self.asker.broker.stopped else "plain"
        outcome = await self.asker.outcome(question.plain, tries)
        self._put(question.plain, outcome, tries)
        return "plain" if isinstance(outcome, Reply) else None

    async def _may_ask(self, question: Question) -> bool:
        """Whether a question is open and ours; the broker may wait for a database, so in a thread."""
        return bool(await asyncio.to_thread(self.asker.broker.take, [question]))

    def _without_answer(self, question: Question, last: Reply | Failure | None, tries: Tries) -> None:
        """Account for requests that brought no answer to a question which somebody else answers."""
        if last is not None:
            self._put(question, last, tries)

    def _put(self, question: Question, outcome: Reply | Failure | None, tries: Tries) -> None:
        if (answer := self.asker.answer(question, outcome, tries)) is not None:
            self.asker.broker.put([answer])

    def _patience(self) -> int | None:
        retries = self.asker.endpoint.settings.retries
        return min(SERVER_ERRORS, retries) if retries >= LEAST_RETRIES else None


def _blames_form(failure: Failure | None) -> bool:
    """Whether a plain question may be answered where this one was not."""
    if failure is None:
        return False
    refused = failure.then == "give up" and failure.status is not None and 400 <= failure.status < 500
    return refused or failure.fell_over


async def find_form(pool: Pool, forms: Sequence[Form], bodies: Bodies) -> Form | None:
    """Ask one question after the other until it is known which form the endpoint takes, or the run stops."""
    form: Form | None = None

    async def find(asker: Asker) -> None:
        nonlocal form
        finder = FormFinder(asker, forms, changes_replies=bodies.changes_replies)
        try:
            await finder.find(pool.questions)
        finally:
            form = finder.form

    await pool.try_out(find)
    return form
