"""Which queries share a row of a batch, and which rows a batch.

A row holds [query 1][what query 2 does not share with query 1][what query 3 does not share with query 2] …: a tree of
tokens, branch after branch, in which what neighbours begin with is read once.
The plan depends on the queries alone, so that an interrupted run batches its rest in the same way.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from contrapose.tasks.core.questions import TOO_LONG, Question
from contrapose.tasks.core.records import Completion, Usage
from contrapose.tasks.infer.local.prompting import Encoder


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
    spellings: tuple[int, ...] = ()
    """Tokens whose probabilities are added up at the place that is wanted, where there is only one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodedQuestion:
    """A question with its queries."""

    question: Question
    """What was asked."""
    queries: tuple[Query, ...]
    """One for labels of a single token, else one a label; one for a loss; none where there is nothing to compute, as
    after a chat template that opens a thought, which no label answers."""
    used: Usage
    """What computing it takes; prompts are counted in full, however much of them is shared."""
    error: str | None = None
    """Why it cannot be computed."""


def asked(questions: Sequence[Question], encoder: Encoder, *, context_length: int) -> list[EncodedQuestion]:
    """Questions as tokens; one that does not fit is an error."""
    prompts = encoder.prompts([question.prompt for question in questions])
    return [
        _asked(number, question, prompt, encoder, context_length=context_length)
        for number, (question, prompt) in enumerate(zip(questions, prompts, strict=True))
    ]


def _asked(
    number: int, question: Question, prompt: list[int], encoder: Encoder, *, context_length: int
) -> EncodedQuestion:
    if question.kind == "loss":
        context, text = encoder.text(prompt if question.prompt else [], question.text.removeprefix(encoder.thought))
        endings = [text]
        size = len(context) + len(text)
    else:
        context = prompt
        endings = [encoder.label(label) for label in question.labels]
        size = len(context)
    error = misfit(len(context), room=max(map(len, endings), default=1), context_length=context_length)
    usable = error is None and context and all(endings)
    computed = usable and not (question.kind == "choose" and encoder.thought)
    spellings = frozenset[int]().union(*map(encoder.spellings, question.labels))
    return EncodedQuestion(
        question=question,
        queries=tuple(_queries(number, context, endings, spellings)) if computed else (),
        used=Usage(calls=1, prompt_tokens=size) if computed else Usage(),
        error=error or (None if usable or question.kind == "loss" else "the prompt or a label has no tokens"),
    )


def misfit(size: int, *, room: int, context_length: int) -> str | None:
    """Why a prompt of `size` tokens cannot be answered, if so."""
    if size + room <= context_length:
        return None
    return f"{TOO_LONG}: it has {size} tokens; with {room} to write it must fit {context_length}"


def completion(asked: EncodedQuestion, values: Sequence[Sequence[Sequence[float]]]) -> Completion:
    """The answer that log-probabilities give.

    Args:
        asked: the question.
        values: log-probabilities in nats, by query, place and target; after the targets of a query with spellings the
            sum of their probabilities.
    """
    if asked.error is not None:
        return Completion(error=asked.error)
    if asked.question.kind == "loss":
        logs = [targets[0] for query in values for targets in query]
        return Completion(loss=-sum(logs) / len(logs) if logs else None, usage=asked.used)
    if not values:
        return Completion(text="", label_mass=0.0)
    if asked.queries[0].spellings:
        *row, mass = values[0][0]
    else:
        row = [sum(targets[0] for targets in query) for query in values]
        mass = sum(map(math.exp, row))
    labels = asked.question.labels
    best = max(range(len(row)), key=row.__getitem__)
    return Completion(
        text=labels[best],
        option_loglikelihoods=tuple(row),
        # Rounding may take a sum of probabilities beyond 1, and what is no number is no share.
        label_mass=min(mass, 1.0) if mass == mass else None,
        usage=asked.used,
    )


def _queries(number: int, context: list[int], endings: list[list[int]], spellings: Iterable[int]) -> list[Query]:
    """One pass answers for all endings of a single token."""
    start = len(context) - 1
    if all(len(ending) == 1 for ending in endings):
        targets = (tuple(ending[0] for ending in endings),)
        return [Query(owner=number, ids=tuple(context), start=start, targets=targets, spellings=tuple(spellings))]
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


ATTENTION = 1500
"""Tokens of a row at which attention costs about as much as everything else, on a CPU; from one profile."""


WIDEST = 2048
"""Tokens of a row that is shared, so that masks, which grow with their square, stay small."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchRow:
    """Queries that are computed side by side."""

    queries: tuple[Query, ...]
    """In the order of their tokens."""
    shared: tuple[int, ...]
    """Of each query, how many first tokens it has in common with the one before it, and are not read again."""
    size: int
    """Tokens in the row."""

    @property
    def wanted(self) -> int:
        """Places whose next tokens are wanted."""
        return sum(len(query.targets) for query in self.queries)

    @property
    def owners(self) -> list[int]:
        """The questions served, in order."""
        return list(dict.fromkeys(query.owner for query in self.queries))

    def only(self, owners: Iterable[int]) -> BatchRow | None:
        """What remains of the row for some questions."""
        kept = set(owners)
        queries = [query for query in self.queries if query.owner in kept]
        return joined(queries) if queries else None

    def followed_by(self, queries: Iterable[Query]) -> BatchRow:
        """The row with further queries at its end."""
        longer = self
        for query in queries:
            shared = _alike(longer.queries[-1].ids, query.ids)
            longer = BatchRow(
                queries=(*longer.queries, query),
                shared=(*longer.shared, shared),
                size=longer.size + len(query.ids) - shared,
            )
        return longer


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """How much one batch holds."""

    tokens: int
    """Padded tokens: rows times the longest row."""
    wanted: int
    """Places whose logits exist at the same time."""
    prompts: int | None = None
    """Questions; None is no limit."""
    replies: int | None = None
    """Tokens of prompts and replies that are written together; None: as many as are read together."""


def common_prefix(queries: Sequence[Query], *, least: int) -> int:
    """How many tokens all queries begin with, before the first place that is wanted; 0 when it is not worth it."""
    if len(queries) < 2:
        return 0
    # Of many, the first and the last in order differ soonest.
    first, last = min(query.ids for query in queries), max(query.ids for query in queries)
    length = min(_alike(first, last), min(query.start for query in queries))
    return length if length >= least else 0


def shared_rows(groups: Sequence[Sequence[Query]], *, limit: Limit, common: int = 0) -> list[BatchRow]:
    """Rows of neighbours in the order of their tokens, as long as sharing costs less than it saves.

    Args:
        groups: the queries of each question; they are not parted.
        limit: of a batch; no row exceeds it on account of sharing.
        common: tokens at the beginning of all queries that cost nothing.
    """
    rows: list[BatchRow] = []
    for group in sorted(groups, key=lambda group: (group[0].ids, group[0].owner)):
        alone = joined(group)
        both = rows[-1].followed_by(group) if rows else alone
        fits = _fits(both.size, len(both.owners), both.wanted, limit) and both.size <= WIDEST
        if rows and fits and _cost(both, common) < _cost(rows[-1], common) + _cost(alone, common):
            rows[-1] = both
        else:
            rows.append(alone)
    return rows


def joined(queries: Sequence[Query]) -> BatchRow:
    """One row of some queries."""
    first, *rest = queries
    return BatchRow(queries=(first,), shared=(0,), size=len(first.ids)).followed_by(rest)


def alone(row: BatchRow) -> list[BatchRow]:
    """Each query of a row in a row of its own."""
    return [joined([query]) for query in row.queries]


def batches(rows: Sequence[BatchRow], limit: Limit) -> Iterator[list[BatchRow]]:
    """Rows of similar length, as many as the limit allows and at least one."""
    batch: list[BatchRow] = []
    prompts = wanted = 0
    for row in sorted(rows, key=lambda row: (row.size, row.owners)):
        prompts, wanted = prompts + len(row.owners), wanted + row.wanted
        # The latest row is the longest.
        if batch and not _fits((len(batch) + 1) * row.size, prompts, wanted, limit):
            yield batch
            batch, prompts, wanted = [], len(row.owners), row.wanted
        batch.append(row)
    if batch:
        yield batch


def padded(rows: Sequence[BatchRow]) -> int:
    """Tokens that a batch is made of, padding included."""
    return len(rows) * max(row.size for row in rows)


def _fits(tokens: int, prompts: int, wanted: int, limit: Limit) -> bool:
    few = limit.prompts is None or prompts <= limit.prompts
    return few and tokens <= limit.tokens and wanted <= limit.wanted


def _cost(row: BatchRow, common: int) -> float:
    size = row.size - common
    return size + size * (size + common) / ATTENTION


def _alike(one: Sequence[int], other: Sequence[int]) -> int:
    """How many tokens both begin with."""
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
