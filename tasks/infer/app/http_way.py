"""An application behind an address: a prompt goes into a field of JSON, and the reply stands in another."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from contrapose.tasks.core.questions import Question
from contrapose.tasks.core.records import Completion
from contrapose.tasks.infer.app.passages import passages_in
from contrapose.tasks.infer.app.settings import PROMPT, AppSettings
from contrapose.tasks.infer.asking.asker import ONE_CALL, WithoutTokens
from contrapose.tasks.infer.asking.http import HttpClient, Received, ReplyTooLargeError
from contrapose.tasks.infer.asking.outcomes import (
    AGAIN,
    OVERLOADED,
    Failure,
    Reply,
    asked_wait,
    timed_out,
    without_secrets,
    without_secrets_in,
)

REFUSED = (401, 402, 403, 404, 405, 501)
SHOWN = 200
"""Characters of a body that an error repeats."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpWay(WithoutTokens):
    """Requests to one address."""

    client: HttpClient
    """Makes them."""
    settings: AppSettings
    """What is sent, and where the reply stands."""

    async def request(self, question: Question, *, timeout: float) -> Reply | Failure:
        """Make one request. Whatever goes wrong is told, never raised."""
        from aiohttp import ClientError, ClientPayloadError, ClientResponseError

        start = time.monotonic()
        try:
            received = await self._sent(question.prompt, timeout)
            if not 200 <= received.status < 300:
                return self._refused(received)
            # A lone half of a surrogate pair is valid JSON and fits into no file.
            text = reply_in(received.content, self.settings.reply).encode(errors="replace").decode()
            retrieved = passages_in(received.content, self.settings.context)
            answer = Completion(text=text, passages=retrieved.kept, usage=ONE_CALL)
            completion = without_secrets_in(answer, self.settings.headers.values())
            return Reply(completion=completion, seconds=time.monotonic() - start, remarks=retrieved.remarks)
        except TimeoutError:
            return timed_out(timeout)
        except (ClientPayloadError, ClientResponseError, ReplyTooLargeError) as error:
            return self._unreadable(f"{type(error).__name__}: {error}")
        except ValueError as error:
            return self._unreadable(str(error))
        except (ClientError, OSError) as error:
            message = self._cleaned(f"no connection: {type(error).__name__}: {error}")
            return Failure(kind="connection", message=message, then="retry")
        except Exception as error:
            # Whatever broke this one request, the others go on.
            message = self._cleaned(f"{type(error).__name__}: {error}")
            return Failure(kind="error", message=message, then="give up")

    async def _sent(self, prompt: str, timeout: float) -> Received:
        from multidict import CIMultiDict
        from yarl import URL

        body, url = filled(self.settings.body, prompt), URL(self.settings.address)
        headers = CIMultiDict({**self.settings.headers, "Accept": "application/json"})
        if self.settings.method == "GET":
            return await self.client.exchange("GET", url.update_query(body), headers, b"", seconds=timeout)
        headers["Content-Type"] = "application/json"
        content = json.dumps(body).encode()
        return await self.client.exchange(self.settings.method, url, headers, content, seconds=timeout)

    def _refused(self, received: Received) -> Failure:
        """What a status means: try again, slow down, give this prompt up, or stop."""
        status, wait = received.status, asked_wait(dict(received.texts))
        text = self._cleaned(f"status {status}: {received.content[: 2 * SHOWN].decode(errors='replace')}")
        kind = f"status {status}"
        if status < 400 or status in REFUSED:
            # These may concern one prompt alone, where others were answered.
            certain = status in (401, 402)
            return Failure(kind=kind, message=text, then="stop", certain=certain, status=status)
        if status in OVERLOADED or (status == 503 and wait is not None):
            return Failure(kind=kind, message=text, then="wait", wait=wait, overload=True, status=status)
        again = status >= 500 or status in AGAIN
        return Failure(kind=kind, message=text, then="retry" if again else "give up", status=status, wait=wait)

    def _unreadable(self, why: str) -> Failure:
        message = self._cleaned(f"a reply that cannot be read ({why})")
        return Failure(kind="broken reply", message=message, then="give up", billed=True, unreadable=True)

    def _cleaned(self, text: str) -> str:
        """In one line, without the secrets that were sent: some servers repeat them."""
        return " ".join(without_secrets(text, self.settings.headers.values()).split())[:SHOWN]


@asynccontextmanager
async def open_http(settings: AppSettings) -> AsyncIterator[HttpWay]:
    """A client for one call."""
    client = HttpClient(settings.address)
    try:
        yield HttpWay(client=client, settings=settings)
    finally:
        await client.close()


def filled(value: Any, prompt: str) -> Any:
    """A body with the prompt in its places; it is put into texts, so that no prompt can change what the body is."""
    if isinstance(value, Mapping):
        return {name: filled(part, prompt) for name, part in value.items()}
    if isinstance(value, list):
        return [filled(part, prompt) for part in value]
    return value.replace(PROMPT, prompt) if isinstance(value, str) else value


def reply_in(content: bytes, path: str) -> str:
    """The reply in what came back.

    Args:
        content: JSON, or a text where no path is named.
        path: names and places, parted by points; empty: the whole text, or the field `reply` of an object.

    Raises:
        ValueError: there is no text at the path.
    """
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        if path:
            raise ValueError("no JSON") from None
        return content.decode(errors="replace").strip()
    if not path:
        if isinstance(value, str):
            return value
        path = "reply"
    for step in path.split("."):
        if isinstance(value, Mapping) and step in value:
            value = value[step]
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            raise ValueError(f"nothing at {path}: set model_args.reply to where the reply stands")
    if not isinstance(value, str):
        raise ValueError(f"{type(value).__name__} at {path}, where a text should be")
    return value
