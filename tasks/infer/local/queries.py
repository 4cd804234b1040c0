"""Questions about likelihoods as one primitive: log-probabilities of given tokens after given tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from contrapose.tasks.infer.base import Question
from contrapose.tasks.infer.local.prompting import Encoder
from contrapose.tasks.records import Completion, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """Tokens to read, and the next tokens whose log-probabilities are wanted."""

    owner: int
    """Number of the question that it serves."""
    ids: tuple[int, ...]
    """What is read."""
    start: int
    """The first place that is wanted: the last token before what is scored."""
    targets: tuple[tuple[int, ...], ...]
    """From `start` on, a place each: the tokens that may come next."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question with its queries."""

    question: Question
    """What was asked."""
    queries: tuple[Query, ...]
    """One for labels of a single token, else one a label; one for a loss; none where there is nothing to compute."""
    used: Usage
    """What computing it takes; prompts are counted in full, however much of them is shared."""
    error: str | None = None
    """Why it cannot be computed."""


def asked(number: int, question: Question, encoder: Encoder, *, context_length: int) -> Asked:
    """A question as tokens; one that does not fit is an error."""
    if question.kind == "loss":
        context, text = encoder.text(question.prompt, question.text)
        endings = [text]
        size = len(context) + len(text)
    else:
        context = encoder.prompt(question.prompt)
        endings = [encoder.label(label) for label in question.labels]
        size = len(context)
    error = misfit(len(context), room=max(map(len, endings), default=1), context_length=context_length)
    usable = error is None and context and all(endings)
    return Asked(
        question=question,
        queries=tuple(_queries(number, context, endings)) if usable else (),
        used=Usage(calls=1, prompt_tokens=size) if usable else Usage(),
        error=error or (None if usable or question.kind == "loss" else "the prompt or a label has no tokens"),
    )


def misfit(size: int, *, room: int, context_length: int) -> str | None:
    """Why a prompt of `size` tokens cannot be answered, if so."""
    if size + room <= context_length:
        return None
    return f"the prompt has {size} tokens; with {room} to write it must fit {context_length}"


def completion(asked: Asked, values: Sequence[Sequence[Sequence[float]]]) -> Completion:
    """The answer that log-probabilities give.

    Args:
        asked: the question.
        values: log-probabilities in nats, by query, place and target.
    """
    if asked.error is not None:
        return Completion(error=asked.error)
    if asked.question.kind == "loss":
        logs = [targets[0] for query in values for targets in query]
        return Completion(loss=-sum(logs) / len(logs) if logs else None, usage=asked.used)
    single = len(values) == 1 and len(values[0]) == 1
    row = values[0][0] if single else [sum(targets[0] for targets in query) for query in values]
    labels = asked.question.labels
    best = max(range(len(row)), key=row.__getitem__)
    return Completion(text=labels[best], option_loglikelihoods=tuple(row), usage=asked.used)


def _queries(number: int, context: list[int], endings: list[list[int]]) -> list[Query]:
    """One pass answers for all endings of a single token."""
    start = len(context) - 1
    if all(len(ending) == 1 for ending in endings):
        targets = (tuple(ending[0] for ending in endings),)
        return [Query(owner=number, ids=tuple(context), start=start, targets=targets)]
    return [
        Query(
            owner=number,
            # The last token is only predicted, never read.
            ids=(*context, *ending[:-1]),
            start=start,
            targets=tuple((token,) for token in ending),
        )
        for ending in endings
    ]
