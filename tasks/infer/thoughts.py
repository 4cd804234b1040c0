"""Find replies that were cut off without a report: texts that break off, and thoughts that never close.

A thought whose opening mark is in the prompt looks like a reply. Where other replies of the run close one, it is known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from contrapose.tasks.core.records import Completion, Trial
from contrapose.tasks.language.replies.cut_off import begins_within_thought, breaks_off, is_thought_alone, mark_thought
from contrapose.tasks.language.replies.spoken import extract_final_text
from contrapose.tasks.tables.table import Table, iterate, write


def has_unopened_thoughts(replies: Iterable[Completion]) -> bool:
    """Return whether some replies close a thought that they do not open."""
    return any(_is_read(reply) and begins_within_thought(reply.text or "") for reply in replies)


def mark_thoughts(table: Table) -> tuple[Table, int]:
    """Return trials whose replies begin within a thought; a mark is put before replies that do not close it.

    The second value is how many replies to the two prompts of a case have a thought and no answer.
    """
    count = 0

    def marked_trials() -> Iterator[Trial]:
        nonlocal count
        for trial in iterate(table, Trial):
            marked = replace(trial, expected=_mark_reply(trial.expected), actual=_mark_reply(trial.actual))
            count += sum(is_thought_alone(reply.text or "") for reply in (marked.expected, marked.actual))
            yield marked

    return write(marked_trials(), Trial), count


def mark_if_cut_off(trial: Trial) -> Trial:
    """Return a trial in which replies that break off count as cut off, for a model that does not report the end."""
    first, second = (
        replace(reply, outcome="cut_off")
        if _is_read(reply) and breaks_off(extract_final_text(reply.text or ""))
        else reply
        for reply in (trial.expected, trial.actual)
    )
    return replace(trial, expected=first, actual=second)


def _mark_reply(reply: Completion) -> Completion:
    again, in_words = (text and mark_thought(text) for text in (reply.again, reply.in_words))
    text = mark_thought(reply.text) if reply.text and _is_read(reply) else reply.text
    return replace(reply, text=text, again=again, in_words=in_words)


def _is_read(reply: Completion) -> bool:
    return not (reply.constrained or reply.is_unread or reply.option_loglikelihoods is not None)
