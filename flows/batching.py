"""Batch runs: submit the prompts of a run to the Batch API of an endpoint, and collect the replies."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core.errors import ConfigError, ModelError
from contrapose.tasks.core.questions import Question, from_json, to_json
from contrapose.tasks.core.records import Case, Usage
from contrapose.tasks.core.registry import find
from contrapose.tasks.infer.adapting import convert_if_no_likelihoods, find_known_changes, find_known_form, list_forms
from contrapose.tasks.infer.ask import is_letter_wanted, list_extras, list_questions
from contrapose.tasks.infer.budget import open_budget
from contrapose.tasks.infer.keys import Changes, Keys, apply_changes
from contrapose.tasks.infer.openai.batches import (
    ENDED,
    BatchEndpoint,
    ImportCounts,
    split_files,
    take_results,
    yield_request_lines,
)
from contrapose.tasks.infer.openai.bodies import RequestBodies
from contrapose.tasks.infer.openai.vendors import VENDORS
from contrapose.tasks.store import Store
from contrapose.tasks.store.prompts import PREPARED, PromptRow, SubmittedBatch
from contrapose.tasks.text.wording import counted

LOOK_SECONDS = 60.0
"""Between two looks at batches that are waited for."""
PORTION = 500
"""Questions that are looked up or noted at a time."""
SHARE = 0.5
"""Of OpenAI's listed price for a batch. Source: OpenAI's guide to the Batch API."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenQuestions:
    """The questions of a run that the response store cannot answer yet."""

    spec: ModelSpec
    """The model, set to reach nobody, with the settings that its endpoint makes necessary."""
    changes: Changes
    """These settings, as far as they are known."""
    rows: dict[str, PromptRow]
    """Questions without an answer that no batch is asking, by their keys, in the order of the run."""
    answered: int
    """Questions with an answer."""
    batches: frozenset[str]
    """Our ids of the batches that are asking some of the others."""
    under_way: int
    """Number of these others."""

    def describe_left_aside(self) -> Iterator[str]:
        """Describe the questions that are not submitted now."""
        if self.answered:
            yield f"{counted('prompts', self.answered)} answered in the response store, left out"
        rows = [row for row in Store().prompts.batches() if row.id in self.batches]
        if self.under_way and any(row.state == PREPARED for row in rows):
            where = "in a batch that is prepared" if len(rows) == 1 else "in batches, some of them only prepared"
            yield f"{counted('prompts', self.under_way)} {where}, left out; `contrapose batch collect` submits it"
        elif self.under_way:
            yield f"{counted('prompts', self.under_way)} in a batch that was submitted, left out"


def find_unanswered(config: RunConfig, portions: Iterable[Sequence[Case]]) -> OpenQuestions:
    """Return the distinct questions of a run that the store cannot answer; follow-up questions are not included.

    Raises ConfigError if the model has no OpenAI-compatible endpoint, or everything is to be asked again.
    """
    spec = config.model_spec()
    if spec.provider not in VENDORS:
        raise ConfigError(
            f"{spec.id} is asked by no batch endpoint",
            expected="openai/<model> or another provider with OpenAI's API, whose Batch API and `vllm run-batch` read "
            "its requests",
            remedy="Name one in --model.",
            where="model",
        )
    if name := "refresh" if config.refresh else "ask_again" if config.ask_again else "":
        raise ConfigError(
            "a batch cannot ask again what is answered",
            expected="a run that takes answers from the response store",
            remedy=f"Leave {name} out. To ask again, first forget the answers: `contrapose cache clear`.",
            where=name,
        )
    spec = _take_offline(spec)
    provider = find("providers", spec.known_provider)()
    changes = find_known_changes(provider, spec)
    keys, forms = Keys(spec, provider.identity(spec)).apply_changes(changes), list_forms(provider, spec)
    form, form_key = find_known_form(forms, keys), keys.hash_forms(forms) if len(forms) > 1 else ""
    rows, under_way, known = dict[str, PromptRow](), dict[str, str](), set[str]()
    for portion in portions:
        new = dict[str, PromptRow]()
        cases = convert_if_no_likelihoods([case for case in portion if case.skip_reason is None], provider, keys.spec)
        for question, of_letters in _yield_questions(cases, form):
            key = keys.make_key(question)
            if key not in rows and key not in known and key not in under_way:
                noted = form_key if of_letters else ""
                new[key] = PromptRow(key=key, question=to_json(question), model=spec.id, form_key=noted, run="")
        known.update(Store().answers.find(list(new)))
        batches = {key: row.batch for key, row in Store().prompts.find(list(new)).items() if row.batch}
        under_way |= {key: batch for key, batch in batches.items() if key not in known}
        rows |= {key: row for key, row in new.items() if key not in known and key not in under_way}
    return OpenQuestions(
        spec=keys.spec,
        changes=changes,
        rows=rows,
        answered=len(known),
        batches=frozenset(under_way.values()),
        under_way=len(under_way),
    )


def _take_offline(spec: ModelSpec) -> ModelSpec:
    """Return the model with settings under which it calls no server."""
    return spec.model_copy(update={"args": {**spec.args, "offline": True}})


def _yield_questions(cases: Sequence[Case], form: str) -> Iterator[tuple[Question, bool]]:
    """Return the questions of cases, each with a flag that is True if the question asks for a letter."""
    for case in cases:
        of_letters = is_letter_wanted(case)
        yield from ((question, of_letters) for question in list_questions([case], form=form))  # type: ignore[arg-type]
        again = of_letters and case.also_again
        yield from ((question, again) for question in list_extras([case], form=form))  # type: ignore[arg-type]


def note_questions(questions: OpenQuestions, config: RunConfig, *, run: str | None = None) -> None:
    """Note in the store the questions that are about to be submitted; without a run, note a new one for them."""
    if not questions.rows:
        return
    store = Store()
    if run is None:
        moment = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
        run = store.runs.begin(f"{moment}-batch", config=config.model_dump_json(), folder=str(Path.cwd()))
        store.runs.end(run, "finished")
    rest = iter(questions.rows.values())
    while portion := [row._replace(run=run) for row in islice(rest, PORTION)]:
        store.prompts.note(portion)


class PreparedBatches(NamedTuple):
    """Batches that the store has noted, before they are submitted."""

    batches: frozenset[str]
    """Our ids of them."""
    notices: tuple[str, ...]
    """Lines for people: what they take at most, and what the budget leaves out."""


def prepare_batches(questions: OpenQuestions, config: RunConfig, *, run: str | None = None) -> PreparedBatches:
    """Note batches of the questions in the store, as far as the budget allows; send nothing yet.

    Answers and cost are counted to the run; without one, to a new run.
    """
    budget = open_budget(config, spent=Store().runs.usage(run) if run else Usage())
    bodies = RequestBodies(spec=questions.spec)
    if budget.price is not None and config.price is None:
        cheaper = {name: SHARE * getattr(budget.price, name) for name in ("input", "output")}
        budget.price = budget.price.model_copy(update=cheaper)
    rows, notices = dict[str, PromptRow](), list[str]()
    for key, row in questions.rows.items():
        most = bodies.estimate_usage(from_json(row.question))
        if not budget.reserve(most):
            notices = [f"{budget.explain(most)}: {counted('prompts', len(questions.rows) - len(rows))} left for later"]
            break
        rows[key] = row
    if rows:
        whole = replace(budget, spent=budget.reserved, reserved=Usage())
        notices.append(f"at most {whole.describe_spending()}")
    note_questions(replace(questions, rows=rows), config, run=run)
    batches = []
    spec = apply_changes(config.model_spec(), questions.changes).model_dump_json()
    for part in split_files(yield_request_lines(rows.values(), questions.spec)):
        keys = [str(json.loads(line)["custom_id"]) for line in part.splitlines()]
        content = hashlib.sha256("".join(keys).encode()).hexdigest()[:24]
        # The time first: the endpoint is asked in the order in which batches were made.
        batches.append(f"{time.time_ns():020}-{content}")
        Store().prompts.prepare(batches[-1], keys, spec=spec)
    return PreparedBatches(batches=frozenset(batches), notices=tuple(notices))


def submit_prepared(chosen: Collection[str] | None = None) -> Iterator[str]:
    """Submit the noted batches, all or those with our ids; a refused batch does not stop the others.

    Raises ModelError if an endpoint refuses, or does not answer; doing it again submits nothing twice.
    """
    prompts, refused = Store().prompts, None
    for row in prompts.batches():
        if row.state != PREPARED or (chosen is not None and row.id not in chosen):
            continue
        asked_there = prompts.asked_by(row.id)
        spec = ModelSpec.model_validate_json(row.spec)
        try:
            with BatchEndpoint(spec) as endpoint:
                batch = endpoint.submit(row.id, b"".join(yield_request_lines(asked_there, _take_offline(spec))))
        except ModelError as error:
            refused = error
            continue
        prompts.mark(row.id, {"remote": batch.id, "state": batch.status})
        yield f"{batch.id}: {counted('prompts', len(asked_there))} submitted"
    if refused is not None:
        raise refused


def cancel_batch(row: SubmittedBatch) -> str:
    """Cancel a batch, and describe what happened to it: its answers can be collected. Raises ModelError."""
    if row.state == PREPARED:
        Store().prompts.release(row.id)
        return f"{row.id}: forgotten; it was not submitted, as far as is known"
    with BatchEndpoint(ModelSpec.model_validate_json(row.spec)) as endpoint:
        return f"{row.remote}: {endpoint.cancel(row.remote).status}; `contrapose batch collect` takes what it answered"


class CollectedBatch(NamedTuple):
    """What a finished batch brought: stored answers, failures, cost."""

    row: SubmittedBatch
    status: str
    """As the endpoint says."""
    problems: tuple[str, ...]
    """Errors that the endpoint names."""
    counts: ImportCounts | None
    """Its results, counted; None where there are none."""

    def in_words(self) -> Iterator[str]:
        """Describe it for people, in lines of text."""
        yield self.status
        yield from self.problems
        if self.counts is None:
            yield "no results; its prompts may be submitted again"
        else:
            yield from self.counts.reasons
            yield from self.counts.yield_lines()


def collect_batch(row: SubmittedBatch) -> CollectedBatch | None:
    """Store the answers of a batch, so that the rest may be asked again; return None if it has not ended.

    Raises ModelError if the endpoint does not answer; doing it again takes no answer twice.
    """
    prompts = Store().prompts
    with BatchEndpoint(ModelSpec.model_validate_json(row.spec)) as endpoint:
        batch = endpoint.read_state(row.remote)
        if batch.status not in ENDED:
            prompts.mark(row.id, {"state": batch.status})
            return None
        has_results = batch.output_file_id or batch.error_file_id
        counts = take_results(endpoint.yield_results(batch)) if has_results else None
    prompts.release(row.id)
    errors = (batch.errors.data if batch.errors else None) or []
    problems = tuple(error.message or str(error.code) for error in errors[:5])
    return CollectedBatch(row=row, status=batch.status, problems=problems, counts=counts)


def answer_by_batch(config: RunConfig, portions: Iterable[Sequence[Case]], *, run: str) -> Iterator[str]:
    """Answer a run's questions by batches, wait at most a day for them, and yield a line for each event.

    Doing it again goes on. A question that a batch does not answer is asked by the run itself.
    """
    questions = find_unanswered(config, portions)
    yield from questions.describe_left_aside()
    prepared = prepare_batches(questions, config, run=run)
    yield from prepared.notices
    ours = questions.batches | prepared.batches
    yield from submit_prepared(ours)
    while rows := [row for row in Store().prompts.batches() if row.id in ours]:
        collected = [collect_batch(row) for row in rows]
        for batch in filter(None, collected):
            yield from (f"{batch.row.remote}: {line}" for line in batch.in_words())
        if not any(collected):
            time.sleep(LOOK_SECONDS)


def describe_batch(row: SubmittedBatch) -> str:
    """Describe how far a batch is; raise ModelError if the endpoint does not answer."""
    if row.state == PREPARED:
        return f"{row.id}: {counted('prompts', row.questions)} prepared, not submitted: `contrapose batch collect`"
    with BatchEndpoint(ModelSpec.model_validate_json(row.spec)) as endpoint:
        batch = endpoint.read_state(row.remote)
    counts = batch.request_counts
    done = f", {counts.completed:,} of {counts.total:,} answered, {counts.failed:,} failed" if counts else ""
    return f"{row.remote}: {batch.status}{done}"
