"""A causal language model that answers the questions of a broker in planned batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from contrapose.tasks.config.model_spec import Generation
from contrapose.tasks.core.questions import Question, to_json
from contrapose.tasks.core.records import Completion, Usage
from contrapose.tasks.infer.budgeted_batches import Batch, answer_batch
from contrapose.tasks.infer.local.forward import ForwardPasses, LikelihoodComputer
from contrapose.tasks.infer.local.fused import FusedLayers
from contrapose.tasks.infer.local.machine import BatchMemory, TooLargeError
from contrapose.tasks.infer.local.prompting import Encoder
from contrapose.tasks.infer.local.replies import ReplyGenerator, ReplyRequest, seed
from contrapose.tasks.infer.local.rows import BatchLimit, BatchRow, EncodedQuestion, encode_questions, explain_misfit
from contrapose.tasks.tables.large_blocks import large_blocks_kept

if TYPE_CHECKING:
    from contrapose.tasks.infer.broker import StoreBroker

THOUGHT_ROOM = 1024
"""Tokens of a reply beyond `max_new_tokens` after a chat template that opens a thought: answers come after it."""
TOO_LARGE = "the prompt alone does not fit in the memory of the device"


class TransformerModel:
    """A causal language model of transformers, in eval mode and on its device."""

    def __init__(self, *, model: Any, encoder: Encoder, generation: Generation, limit: BatchLimit) -> None:
        self.model, self.encoder, self.generation, self.limit = model, encoder, generation, limit
        config = model.config.get_text_config()
        self.context_length = int(getattr(config, "max_position_embeddings", 1 << 20))
        self.memory = BatchMemory()
        self.fused = FusedLayers(model)
        self.scoring = LikelihoodComputer(ForwardPasses(model, pad_id=encoder.pad_id), self.memory, limit, self.fused)
        self.replies = ReplyGenerator(model, encoder, generation, self.memory)

    def answer(self, questions: Sequence[Question], broker: StoreBroker) -> None:
        """Plan batches of all questions, and compute the open ones of each."""
        generated = [question for question in questions if question.kind == "generate"]
        scored = [question for question in questions if question.kind != "generate"]
        with large_blocks_kept(), self.fused.replace_layers():
            for batches in (self._yield_scored_batches(scored), self._yield_generated_batches(generated)):
                for batch in batches:
                    answer_batch(batch, broker)

    def notes(self) -> Mapping[str, str | float]:
        """Return the batch size, and how much sharing rows may have changed a likelihood."""
        size: dict[str, str | float] = (
            {"batch_tokens": self.limit.tokens} if self.limit.prompts is None else {"batch_prompts": self.limit.prompts}
        )
        if self.memory.halvings:
            size |= {"batch_halvings": self.memory.halvings, "batch_tokens_that_fit": self.memory.ceiling or 1}
        return size | self.scoring.notes()

    def _yield_scored_batches(self, questions: Sequence[Question]) -> Iterator[Batch]:
        encoded = list(encode_questions(questions, self.encoder, context_length=self.context_length))
        yield from _batch_known({ready.question: ready.completion(()) for ready in encoded if not ready.queries})
        for rows in self.scoring.plan(encoded):
            yield self._make_scored_batch(rows, encoded)

    def _make_scored_batch(self, rows: Sequence[BatchRow], encoded: Sequence[EncodedQuestion]) -> Batch:
        numbers = {encoded[owner].question: owner for row in rows for owner in row.owners}

        def compute(held: Sequence[Question]) -> list[Completion]:
            owners = [numbers[question] for question in held]
            kept = [part for part in (row.keep_owners(owners) for row in rows) if part]
            values = self.scoring.compute(kept)
            return [encoded[owner].completion(values[owner]) for owner in owners]

        most = {question: encoded[owner].used for question, owner in numbers.items()}
        return Batch(questions=tuple(numbers), most=most, compute=_split_if_too_large(compute))

    def _yield_generated_batches(self, questions: Sequence[Question]) -> Iterator[Batch]:
        prompts = self.encoder.encode_prompts([question.prompt for question in questions])
        encoded = dict(zip(questions, prompts, strict=True))
        least = self.generation.max_new_tokens
        limits = {question: self._limit_reply(len(ids)) for question, ids in encoded.items()}
        errors = {
            question: explain_misfit(len(ids), room=least, context_length=self.context_length)
            or (None if ids else "the prompt has no tokens")
            for question, ids in encoded.items()
        }
        yield from _batch_known({question: Completion(error=error) for question, error in errors.items() if error})

        def compute(held: Sequence[Question]) -> list[Completion]:
            # Of equal prompts that are asked several times, each has a seed of its own.
            return self.replies.compute([ReplyRequest(encoded[one], limits[one], seed(to_json(one))) for one in held])

        fitting = sorted((one for one in questions if not errors[one]), key=lambda one: len(encoded[one]))
        room, batch = self.limit.replies or self.limit.tokens, list[Question]()
        for question, following in zip(fitting, [*fitting[1:], None], strict=False):
            batch.append(question)
            size = room + 1
            if following is not None:
                size = (len(batch) + 1) * (len(encoded[following]) + max(limits[one] for one in (*batch, following)))
            if size > room or len(batch) == self.limit.prompts:
                most = {
                    one: Usage(calls=1, prompt_tokens=len(encoded[one]), completion_tokens=limits[one]) for one in batch
                }
                yield Batch(questions=tuple(batch), most=most, compute=_split_if_too_large(compute))
                batch = []

    def _limit_reply(self, size: int) -> int:
        """Return the most tokens of a reply to a prompt of that size, with extra room for a thought if it fits."""
        written = self.generation.max_new_tokens
        if not self.encoder.template.thought:
            return written
        return max(written, min(written + THOUGHT_ROOM, self.context_length - size))


def _batch_known(known: Mapping[Question, Completion]) -> Iterator[Batch]:
    """Yield a batch of answers that need no model, if there are any."""
    if known:
        most = dict.fromkeys(known, Usage())
        yield Batch(questions=tuple(known), most=most, compute=lambda held: [known[question] for question in held])


def _split_if_too_large(
    compute: Callable[[Sequence[Question]], list[Completion]],
) -> Callable[[Sequence[Question]], list[Completion]]:
    """Return a function that computes questions one by one if a batch is too large, so that only one fails."""

    def compute_some(held: Sequence[Question]) -> list[Completion]:
        try:
            return compute(held)
        except TooLargeError:
            if len(held) == 1:
                return [Completion(error=TOO_LARGE)]
            return [answer for question in held for answer in compute_some([question])]

    return compute_some
