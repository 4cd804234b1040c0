"""Pack prompts of a local model into shared rows of a batch, so that a common beginning is computed once.

A row holds [query 1][what query 2 does not share with query 1][what query 3 does not share with query 2] …: a tree of
tokens, branch after branch, in which the common beginning of neighbours is read once.
The plan depends on the queries alone, so that an interrupted run batches its rest in the same way.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from contrapose.tasks.core.questions import TOO_LONG, Question
from contrapose.tasks.core.records import Completion, Usage
from contrapose.tasks.infer.local.prompting import Encoder

ATTENTION = 1500
"""Tokens of a row at which attention costs about as much as everything else, on a CPU; from one profile."""
WIDEST = 2048
"""Tokens of a row that is shared, so that masks, which grow with their square, stay small."""
ERRS_ON, BLOCK = "cuda", 32
"""Devices on which a kernel errs, and the queries that it computes together, or half of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """Tokens that the model reads, and the next tokens whose log-probabilities are wanted."""

    owner: int
    """Number of the question that it serves."""
    ids: tuple[int, ...]
    """Tokens that are read."""
    start: int
    """The first place that is wanted: the last token before the scored ones."""
    targets: tuple[tuple[int, ...], ...]
    """From `start` on, a place each: the tokens that may come next."""
    spellings: tuple[int, ...] = ()
    """Tokens whose probabilities are added up at the place that is wanted, where there is only one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodedQuestion:
    """A question with the queries that answer it."""

    question: Question
    """The question."""
    queries: tuple[Query, ...]
    """One for labels of a single token, else one a label; one for a loss; none if there is nothing to compute, as
    after a chat template that opens a thought and cannot close it, which no label answers."""
    used: Usage
    """Its usage; prompts are counted in full, however much of them is shared."""
    error: str | None = None
    """Why it cannot be computed."""

    def completion(self, values: Sequence[Sequence[Sequence[float]]]) -> Completion:
        """Return the answer to the question from the log-probabilities of its queries."""
        if self.error is not None:
            return Completion(error=self.error)
        if self.question.kind == "loss":
            logs = [targets[0] for query in values for targets in query]
            return Completion(loss=-sum(logs) / len(logs) if logs else None, usage=self.used)
        if not values:
            return Completion(text="", label_mass=0.0)
        if self.queries[0].spellings:
            *row, mass = values[0][0]
        else:
            row = [sum(targets[0] for targets in query) for query in values]
            mass = sum(map(math.exp, row))
        return Completion(
            text=self.question.labels[max(range(len(row)), key=row.__getitem__)],
            option_loglikelihoods=tuple(row),
            # Rounding may take a sum of probabilities beyond 1, and NaN is no share.
            label_mass=min(mass, 1.0) if mass == mass else None,
            usage=self.used,
        )


def encode_questions(
    questions: Sequence[Question], encoder: Encoder, *, context_length: int
) -> Iterator[EncodedQuestion]:
    """Yield questions with their queries as tokens; one that does not fit gets an error."""
    prompts = encoder.encode_prompts([question.prompt for question in questions if question.kind == "loss"])
    closed = encoder.encode_prompts([question.prompt for question in questions if question.kind != "loss"], closed=True)
    contexts = {"loss": iter(prompts), "choose": iter(closed)}
    for number, question in enumerate(questions):
        context = next(contexts[question.kind])
        if question.kind == "loss":
            text = question.text.removeprefix(encoder.template.thought)
            context, ending = encoder.encode_text(context if question.prompt else [], text)
            endings, size = [ending], len(context) + len(ending)
        else:
            endings, size = [encoder.encode_label(label) for label in question.labels], len(context)
        error = explain_misfit(len(context), room=max(map(len, endings), default=1), context_length=context_length)
        usable = error is None and context and all(endings)
        computed = usable and not (question.kind == "choose" and encoder.has_open_thought)
        spellings = tuple(frozenset[int]().union(*map(encoder.encode_spellings, question.labels)))
        yield EncodedQuestion(
            question=question,
            queries=tuple(_queries(number, context, endings, spellings)) if computed else (),
            used=Usage(calls=1, prompt_tokens=size) if computed else Usage(),
            error=error or (None if usable or question.kind == "loss" else "the prompt or a label has no tokens"),
        )


def explain_misfit(size: int, *, room: int, context_length: int) -> str | None:
    """Return why a prompt of `size` tokens does not fit into the context, or None if it does."""
    if size + room <= context_length:
        return None
    return f"{TOO_LONG}: it has {size} tokens; with {room} to write it must fit {context_length}"


def _queries(number: int, context: list[int], endings: list[list[int]], spellings: tuple[int, ...]) -> Iterator[Query]:
    """Yield one query for all endings if each is a single token, or else one for each ending."""
    start = len(context) - 1
    if all(len(ending) == 1 for ending in endings):
        targets = (tuple(ending[0] for ending in endings),)
        yield Query(owner=number, ids=tuple(context), start=start, targets=targets, spellings=spellings)
        return
    for ending in endings:
        # The last token is only predicted, never read.
        ids = (*context, *ending[:-1])
        yield Query(owner=number, ids=ids, start=start, targets=tuple((token,) for token in ending))


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchRow:
    """Queries that are computed together in one row."""

    queries: tuple[Query, ...]
    """In the order of their tokens."""
    shared: tuple[int, ...]
    """Number of first tokens that each query has in common with the one before it, and that are not read again."""
    size: int
    """Tokens in the row."""

    @classmethod
    def from_queries(cls, queries: Sequence[Query]) -> BatchRow:
        """Return a row that holds some queries."""
        first, *rest = queries
        return cls(queries=(first,), shared=(0,), size=len(first.ids)).extend(rest)

    @property
    def wanted_places(self) -> int:
        """The number of places whose next tokens are wanted."""
        return sum(len(query.targets) for query in self.queries)

    @property
    def owners(self) -> list[int]:
        """Numbers of the questions that own the queries, in order."""
        return list(dict.fromkeys(query.owner for query in self.queries))

    def keep_owners(self, owners: Iterable[int]) -> BatchRow | None:
        """Return the row with only the queries of some questions; None if there are none."""
        kept = set(owners)
        queries = [query for query in self.queries if query.owner in kept]
        return BatchRow.from_queries(queries) if queries else None

    def extend(self, queries: Iterable[Query]) -> BatchRow:
        """Return the row with more queries at its end."""
        longer = self
        for query in queries:
            shared = _compare_beginnings(longer.queries[-1].ids, query.ids)
            longer = BatchRow(
                queries=(*longer.queries, query),
                shared=(*longer.shared, shared),
                size=longer.size + len(query.ids) - shared,
            )
        return longer


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchLimit:
    """Limits of the size of one batch."""

    tokens: int
    """Padded tokens: rows times the longest row."""
    wanted: int
    """Places whose logits exist at the same time."""
    prompts: int | None = None
    """Questions; None is no limit."""
    replies: int | None = None
    """Tokens of prompts and replies that are written together; None: as many as are read together."""

    def allows(self, tokens: int, prompts: int, wanted: int) -> bool:
        """Return whether the limits allow a batch of this size."""
        few = self.prompts is None or prompts <= self.prompts
        return few and tokens <= self.tokens and wanted <= self.wanted


def count_common_tokens(queries: Sequence[Query], *, least: int) -> int:
    """Return how many first tokens all queries share, before any wanted place; 0 if sharing is not worth it."""
    if len(queries) < 2:
        return 0
    # Of many, the first and the last in order differ soonest.
    first, last = min(query.ids for query in queries), max(query.ids for query in queries)
    length = min(_compare_beginnings(first, last), min(query.start for query in queries))
    return length if length >= least else 0


def plan_shared_rows(groups: Sequence[Sequence[Query]], *, limit: BatchLimit, common: int = 0) -> list[BatchRow]:
    """Return rows of queries with similar beginnings; queries share a row if that costs less than it saves."""

    def cost(row: BatchRow) -> float:
        size = row.size - common
        return size + size * (size + common) / ATTENTION

    rows: list[BatchRow] = []
    for group in sorted(groups, key=lambda group: (group[0].ids, group[0].owner)):
        alone = BatchRow.from_queries(group)
        both = rows[-1].extend(group) if rows else alone
        fits = limit.allows(both.size, len(both.owners), both.wanted_places) and both.size <= WIDEST
        if rows and fits and cost(both) < cost(rows[-1]) + cost(alone):
            rows[-1] = both
        else:
            rows.append(alone)
    return rows


def pack_batches(rows: Sequence[BatchRow], limit: BatchLimit) -> Iterator[list[BatchRow]]:
    """Yield batches of rows of similar length, as many rows as the limit allows and at least one."""
    batch: list[BatchRow] = []
    prompts = wanted = 0
    for row in sorted(rows, key=lambda row: (row.size, row.owners)):
        prompts, wanted = prompts + len(row.owners), wanted + row.wanted_places
        # The latest row is the longest.
        if batch and not limit.allows((len(batch) + 1) * row.size, prompts, wanted):
            yield batch
            batch, prompts, wanted = [], len(row.owners), row.wanted_places
        batch.append(row)
    if batch:
        yield batch


def count_padded_tokens(rows: Sequence[BatchRow]) -> int:
    """Return the number of tokens of a batch, with padding."""
    return len(rows) * max(row.size for row in rows)


def _compare_beginnings(one: Sequence[int], other: Sequence[int]) -> int:
    """Return how many first tokens two sequences share."""
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def compute_padded_width(longest: int, device: str) -> int:
    """Return the number of tokens of each row of a batch, with fillers.

    If a row is one token longer than full blocks, and all heads share their keys and values, torch's
    memory-efficient attention takes the last query for the only one, and gives it what another head's query gets:
    `num_queries == 1` in torch's kernel_forward.h, 2.11 and 2.13 (decision 47). With a filler more, no query is left
    over.
    """
    return longest + 1 if device == ERRS_ON and longest > 1 and longest % BLOCK == 1 else longest


@dataclass(frozen=True, slots=True, kw_only=True)
class RowBranch:
    """Neighbouring tokens that one query adds to the row."""

    before: list[int]
    """Columns of the tokens that lead to it."""
    begin: int
    """Its first column."""
    end: int
    """The column after its last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowLayout:
    """The tokens of a row by column, without the common beginning of all rows; each branch sees its own context."""

    tokens: list[int] = field(default_factory=list)
    """Token ids."""
    positions: list[int] = field(default_factory=list)
    """Position of each token in its query."""
    branches: list[RowBranch] = field(default_factory=list)
    """In the order of their columns."""
    wanted: list[tuple[int, tuple[int, ...], tuple[int, ...]]] = field(default_factory=list)
    """Column, targets and spellings of each place that is wanted, query by query."""

    @classmethod
    def from_row(cls, row: BatchRow, common: int) -> RowLayout:
        """Return the layout of a row without its first `common` tokens."""
        layout, path = cls(), list[int]()
        for query, shared in zip(row.queries, row.shared, strict=True):
            before, begin = path[: max(0, shared - common)], len(layout.tokens)
            first = common + len(before)
            layout.tokens.extend(query.ids[first:])
            layout.positions.extend(range(first, len(query.ids)))
            path = [*before, *range(begin, len(layout.tokens))]
            if begin < len(layout.tokens):
                layout.branches.append(RowBranch(before=before, begin=begin, end=len(layout.tokens)))
            layout.wanted.extend(
                (path[at - common], targets, query.spellings) for at, targets in enumerate(query.targets, query.start)
            )
        return layout
