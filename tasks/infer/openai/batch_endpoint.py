"""The Batch API of an endpoint, by the official client: files are sent, batches are made, looked for and fetched."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Self

from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.core.errors import ModelError
from contrapose.tasks.infer.openai.bodies import Bodies
from contrapose.tasks.infer.openai.failures import one_line_error
from contrapose.tasks.infer.openai.settings import read_settings

if TYPE_CHECKING:
    from openai.types import Batch

OURS = "contrapose"
"""Under this name the endpoint keeps our id of a batch."""
ENDED = ("completed", "failed", "expired", "cancelled")
"""States in which a batch stays."""
TRIES = 5
"""Requests that change nothing are made again as often, by the client."""
SECONDS = 600.0
"""For one request: a file of 200 MB takes its time."""


class BatchEndpoint:
    """The batches of one model.

    Args:
        spec: the model and its settings.

    Raises:
        ModelError: an argument is wrong, or a key is needed and missing, or not for that host.
    """

    def __init__(self, spec: ModelSpec) -> None:
        import httpx2
        from openai import OpenAI

        self.settings = read_settings(spec)
        self.url = f"/v1{Bodies(spec=spec, settings=self.settings).path}"
        # What is meant for one host is not sent to another.
        client = httpx2.Client(follow_redirects=False, timeout=SECONDS)
        self.client = OpenAI(
            base_url=self.settings.base_url, api_key=self.settings.key, max_retries=TRIES, http_client=client
        )
        self.client.admin_api_key = None
        if not self.settings.own:
            # The client takes them from the environment, for whatever address it is given.
            self.client.organization = self.client.project = None
            self.client._custom_headers = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()

    def submit(self, ours: str, content: bytes) -> Batch:
        """Send questions as a batch, unless the endpoint has it: an earlier try may have ended after it was made.

        Args:
            ours: our id of it.
            content: lines of requests.

        Raises:
            ModelError: it is refused, or nobody answers. The batch may have been made: submitting again finds it.
        """
        with self._refusing():
            if (there := self._find(ours)) is not None:
                return there
            file = self.client.files.create(file=(f"{ours}.jsonl", content), purpose="batch")
            # Made again by nobody: whether it was made is found out by its name.
            once = self.client.with_options(max_retries=0)
            return once.batches.create(
                input_file_id=file.id,
                endpoint=self.url,  # type: ignore[arg-type]
                completion_window="24h",
                metadata={OURS: ours},
            )

    def look(self, remote: str) -> Batch:
        """How a batch stands.

        Raises:
            ModelError: there is none of that id, or nobody answers.
        """
        with self._refusing():
            return self.client.batches.retrieve(remote)

    def cancel(self, remote: str) -> Batch:
        """Have the endpoint answer no more of a batch.

        Raises:
            ModelError: it has ended, or nobody answers.
        """
        with self._refusing():
            return self.client.batches.cancel(remote)

    def results(self, batch: Batch) -> Iterator[tuple[str, bytes]]:
        """The lines that a batch has brought, answers and errors, each with where it stands.

        Raises:
            ModelError: a file is not there, or its transfer broke off.
        """
        for file in filter(None, (batch.output_file_id, batch.error_file_id)):
            with self._refusing(), self.client.files.with_streaming_response.content(file) as reply:
                for row, line in enumerate(reply.iter_lines(), start=1):
                    yield f"{file}, row {row}", line.encode()

    def _find(self, ours: str) -> Batch | None:
        return next((batch for batch in self.client.batches.list() if (batch.metadata or {}).get(OURS) == ours), None)

    @contextmanager
    def _refusing(self) -> Iterator[None]:
        import httpx2
        from openai import OpenAIError

        try:
            yield
        except (OpenAIError, httpx2.HTTPError) as error:
            raise ModelError(
                f"the batch endpoint does not do it: {one_line_error(error, self.settings.key)}",
                expected="an endpoint with OpenAI's Batch API",
                remedy="The same command goes on where it stopped; nothing is submitted twice. Without such an API, "
                "`contrapose prompts` writes the files.",
                where=self.settings.base_url,
            ) from error
