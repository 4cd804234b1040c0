"""Batch API of OpenAI and vLLM: write questions to files, submit the files, and store the replies."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, Self

from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.core.errors import DataError, ModelError
from contrapose.tasks.core.questions import Answer, Question, from_json
from contrapose.tasks.core.records import Completion, Usage
from contrapose.tasks.infer.asking.outcomes import LEAST_SECRET, remove_secrets
from contrapose.tasks.infer.openai.bodies import RequestBodies
from contrapose.tasks.infer.openai.connection import forget_environment
from contrapose.tasks.infer.openai.entra import read_token
from contrapose.tasks.infer.openai.failures import format_error_line, is_moderated
from contrapose.tasks.infer.openai.response_parsing import (
    MOST_HIDDEN,
    ErrorReplyError,
    NoLogprobsError,
    correct_counts,
    read_reply,
)
from contrapose.tasks.store import Store
from contrapose.tasks.store.answers import AnswerRow, build_batch
from contrapose.tasks.store.prompts import PromptRow
from contrapose.tasks.text.wording import counted

if TYPE_CHECKING:
    from openai.types import Batch

MOST_CONTEXT = 2_000_000
"""Tokens of the longest prompt that a model reads."""
MOST_LINES = 50_000
MOST_BYTES = 200_000_000
"""What one batch file may hold. Source: OpenAI's guide to the Batch API, "Rate limits"."""

PORTION = 1_000
"""Lines that are taken into the store in one transaction."""
REASONS = 5
"""Lines that could not be taken of which the reason is kept."""
OURS = "contrapose"
"""Under this name the endpoint keeps our id of a batch."""
ENDED = ("completed", "failed", "expired", "cancelled")
"""States in which a batch stays."""
TRIES = 5
"""Requests that change nothing are made again as often, by the client."""
SECONDS = 600.0
"""For one request: a file of 200 MB takes its time."""


def yield_request_lines(rows: Iterable[PromptRow], spec: ModelSpec) -> Iterator[bytes]:
    """Yield questions as lines of a batch file. The key of a question comes back with its reply, and identifies it.

    The address is always below /v1, whatever `base_url` says: the file is not sent there line by line.
    """
    bodies = RequestBodies(spec=spec)
    for row in rows:
        body = json.loads(bodies.make_body(from_json(row.question)))
        request = {"custom_id": row.key, "method": "POST", "url": f"/v1{bodies.settings.path}", "body": body}
        yield json.dumps(request).encode() + b"\n"


def split_files(
    lines: Iterable[bytes], *, most_lines: int = MOST_LINES, most_bytes: int = MOST_BYTES
) -> Iterator[bytes]:
    """Yield the lines in as few files as possible; a file exceeds a limit only if a single line does."""
    part: list[bytes] = []
    size = 0
    for line in lines:
        if part and (len(part) == most_lines or size + len(line) > most_bytes):
            yield b"".join(part)
            part, size = [], 0
        part.append(line)
        size += len(line)
    if part:
        yield b"".join(part)


@dataclass(slots=True, kw_only=True)
class ImportCounts:
    """Counts of the result lines that were read, and of their answers."""

    taken: int = 0
    """Answers that are in the store now, and were not before."""
    known: int = 0
    """Those that were there: the older answer stays."""
    failed: int = 0
    """Requests that the endpoint did not answer, or whose reply could not be read."""
    refused: int = 0
    """Lines that answer no prompt that was written here, or come from another model."""
    missing: int = 0
    """Prompts that were written with the answered ones and have no answer."""
    reasons: list[str] = field(default_factory=list)
    """Of the first lines that were not taken: which line, and why."""
    runs: set[str] = field(default_factory=set)
    """The runs whose prompts were answered."""

    def yield_lines(self) -> Iterator[str]:
        """Yield the counts as text, one line for each."""
        yield f"{counted('answers', self.taken)} taken into the response store"
        if self.known:
            yield f"{counted('answers', self.known)} there already, left as they are"
        if self.failed:
            yield f"{self.failed:,} failed: no reply, or none that can be read"
        if self.refused:
            yield f"{self.refused:,} refused: made with other settings, for another store, or by another model"
        if self.missing:
            yield f"{counted('prompts', self.missing)} written with them have no answer, and may be asked again"

    @property
    def is_complete(self) -> bool:
        """Return whether every line was an answer, and every prompt has an answer."""
        return not (self.failed or self.refused or self.missing)

    def count_skipped(self, kind: Literal["failed", "refused"], where: str, why: str) -> None:
        """Count a line that gives no answer, and keep the reason if it is one of the first."""
        setattr(self, kind, getattr(self, kind) + 1)
        if len(self.reasons) < REASONS:
            self.reasons.append(f"{where}: {why}")


def take_results(lines: Iterable[tuple[str, bytes]], *, any_model: bool = False) -> ImportCounts:
    """Store the replies under the keys of the prompts that were written; a second time changes nothing.

    DataError: there is no line of results.
    """
    counts = ImportCounts()
    full_lines = ((where, line) for where, line in lines if line.strip())
    any_result = False
    while portion := list(islice(full_lines, PORTION)):
        results: dict[str, list[tuple[str, Mapping[str, Any]]]] = {}
        for where, line in portion:
            try:
                content = _parse_result(line)
            except ValueError as error:
                counts.count_skipped("failed", where, str(error))
            else:
                results.setdefault(str(content["custom_id"]), []).append((where, content))
        any_result = any_result or bool(results)
        _store_results(results, counts, any_model=any_model)
    if not any_result:
        raise DataError(
            counts.reasons[0] if counts.reasons else "no lines",
            expected="JSON objects with custom_id and response, as the Batch API and `vllm run-batch` write them",
            remedy="Name the file of results, not that of requests.",
        )
    counts.missing = Store().prompts.missing(counts.runs)
    return counts


def _parse_result(line: bytes) -> Mapping[str, Any]:
    """Return the content of one result line."""
    try:
        content: Mapping[str, Any] = json.loads(line)
        response, error = content.get("response"), content.get("error")
        is_result = bool(content["custom_id"]) and (response is None or isinstance(response["status_code"], int))
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        is_result = False
    if not is_result:
        raise ValueError("no line of results")
    if response is None and error is None:
        raise ValueError("a request, and not its result")
    return content


def _store_results(
    results: Mapping[str, Sequence[tuple[str, Mapping[str, Any]]]], counts: ImportCounts, *, any_model: bool
) -> None:
    """Store the answers in results under the keys of their prompts."""
    store, keys = Store(), list(results)
    written, known = store.prompts.find(keys), store.answers.find(keys)
    answers: dict[tuple[str, str], dict[str, AnswerRow]] = {}
    for key, where, content in ((key, *result) for key, of_key in results.items() for result in of_key):
        if (row := written.get(key)) is None:
            counts.count_skipped("refused", where, "no prompt that was written here has this custom_id")
            continue
        counts.runs.add(row.run)
        answer = _make_answer(where, content, row, counts, any_model=any_model)
        own = answers.setdefault((row.run, row.model), {})
        if answer is not None and (key in known or key in own):
            counts.known += 1
        elif answer is not None:
            own[key] = AnswerRow(key=key, answer=answer)
    for (run, model), taken in answers.items():
        kept = list(taken.values())
        spent = sum((keyed.answer.taken for keyed in kept), Usage())
        store.answers.keep(build_batch(kept, run=run, model=model, spent=spent, failures=0, again=False))
        counts.taken += len(kept)
        for form, form_key in {(keyed.answer.question.form, written[keyed.key].form_key) for keyed in kept}:
            if form_key:
                store.forms.note(form_key, form, model=model, run=run, again=False)


def _make_answer(
    where: str, content: Mapping[str, Any], row: PromptRow, counts: ImportCounts, *, any_model: bool
) -> Answer | None:
    """Return the answer in a result; if there is none, count it and return None."""
    body = (content.get("response") or {}).get("body")
    served, asked = str((body.get("model") if isinstance(body, dict) else "") or ""), row.model.partition("/")[2]
    # A model's own name may be a dated version of the one that was asked for.
    if served and not any_model and served != asked and not served.startswith(f"{asked}-"):
        counts.count_skipped("refused", where, f"model {served} replied, and {asked} was asked; --any-model takes it")
        return None
    question = from_json(row.question)
    completion = parse_result_line(content, question)
    if completion.error is not None:
        counts.count_skipped("failed", where, completion.error)
        return None
    return Answer(question=question, completion=completion, seconds=0.0)


def parse_result_line(content: Mapping[str, Any], question: Question) -> Completion:
    """Return the completion in a result line; it has an error if the endpoint did not answer."""
    error, response = content.get("error"), content.get("response") or {}
    status, body = response.get("status_code", 200 if response else None), response.get("body")
    if error or status != 200 or not isinstance(body, dict):
        said = error or (body.get("error") if isinstance(body, dict) else body)
        if is_moderated(int(status or 400), said):
            return Completion(text="", outcome="moderated")
        why = said.get("message", said) if isinstance(said, dict) else said
        return Completion(error=f"the endpoint did not answer (status {status}: {why})")
    try:
        reply = json.dumps(body).encode()
        return correct_counts(read_reply(reply, question), reply, sent=MOST_CONTEXT, written=MOST_HIDDEN)[0]
    except (ValueError, NoLogprobsError, ErrorReplyError) as unread:
        return Completion(error=f"the reply cannot be read: {unread}", outcome="malformed")


class BatchEndpoint:
    """Sends and reads the batches of one model. Each method raises ModelError if the endpoint refuses or is gone."""

    def __init__(self, spec: ModelSpec) -> None:
        import httpx2
        from openai import OpenAI

        bodies = RequestBodies(spec=spec)
        self.settings, self.url = bodies.settings, f"/v1{bodies.settings.path}"
        # What is meant for one host is not sent to another.
        client = httpx2.Client(follow_redirects=False, timeout=SECONDS)
        options = {**self.settings.client_options(), **({"api_key": read_token} if self.settings.entra else {})}
        self.client = OpenAI(**options, max_retries=TRIES, http_client=client)
        forget_environment(self.client, self.settings)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()

    def submit(self, ours: str, content: bytes) -> Batch:
        """Send questions as a batch, unless the endpoint already has it from an earlier try that was cut off."""
        with self._raise_model_errors():
            for batch in self.client.batches.list():
                if (batch.metadata or {}).get(OURS) == ours:
                    return batch
            file = self.client.files.create(file=(f"{ours}.jsonl", content), purpose="batch")
            # Made again by nobody: whether it was made is found out by its name.
            once = self.client.with_options(max_retries=0)
            return once.batches.create(
                input_file_id=file.id,
                endpoint=self.url,  # type: ignore[arg-type]
                completion_window="24h",
                metadata={OURS: ours},
            )

    def read_state(self, remote: str) -> Batch:
        """Return the state of a batch."""
        with self._raise_model_errors():
            return self.client.batches.retrieve(remote)

    def cancel(self, remote: str) -> Batch:
        """Ask the endpoint to cancel a batch."""
        with self._raise_model_errors():
            return self.client.batches.cancel(remote)

    def yield_results(self, batch: Batch) -> Iterator[tuple[str, bytes]]:
        """Yield the result lines of a batch, answers and errors, each with its place in the file."""
        for file in filter(None, (batch.output_file_id, batch.error_file_id)):
            with self._raise_model_errors(), self.client.files.with_streaming_response.content(file) as reply:
                for row, line in enumerate(reply.iter_lines(), start=1):
                    clean = remove_secrets(line, [self.settings.key], least=LEAST_SECRET)
                    yield f"{file}, row {row}", clean.encode()

    @contextmanager
    def _raise_model_errors(self) -> Iterator[None]:
        import httpx2
        from openai import OpenAIError

        try:
            yield
        except (OpenAIError, httpx2.HTTPError) as error:
            raise ModelError(
                f"the batch endpoint does not do it: {format_error_line(error, self.settings.key)}",
                expected="an endpoint with OpenAI's Batch API",
                remedy="Run the same command again to continue; nothing is submitted twice. Without such an API, "
                "`contrapose batch prompts` writes the files.",
                where=self.settings.address,
            ) from error
