"""The official client: opened for a call, and asked once whether anybody is there."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Self

from contrapose.tasks.core.errors import ModelError
from contrapose.tasks.infer.openai.failures import is_missing_path, other_host
from contrapose.tasks.infer.openai.key import NO_KEY
from contrapose.tasks.infer.openai.settings import Settings

if TYPE_CHECKING:
    from multidict import CIMultiDict
    from openai import AsyncOpenAI, OpenAI
    from yarl import URL


NOT_FOUND = 404
"""Status of an address that a server does not have."""
PATIENCE = 10
"""Seconds for a request that asks nothing."""
USUAL_PATH = "/v1"
"""Where servers have the API, unless they say otherwise."""


class Connection:
    """The official client, and the requests it has built, which are repeated with other bodies.

    A run sends thousands of requests to one address that differ in their body alone. The client builds the first
    one, with its address, key and headers, and reads every failure; building it again takes longer than sending it.
    All requests go the same way, so that the first ones of a run do not wait for each other's being built.
    Retries and time limits of the client are off: ours count for the whole run, and cover every hang.
    """

    def __init__(self, settings: Settings) -> None:
        from openai import AsyncOpenAI

        from contrapose.tasks.infer.openai.lean import LeanClient

        self.lean = LeanClient(settings.base_url)
        self.client = AsyncOpenAI(
            base_url=settings.base_url, api_key=settings.key, timeout=None, max_retries=0, http_client=self.lean
        )
        forget_environment(self.client, settings)
        self._built: dict[str, tuple[URL, CIMultiDict[str]]] = {}
        self._building = asyncio.Lock()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.client.close()

    async def post(self, path: str, body: bytes, *, seconds: float) -> bytes:
        """Post JSON; the body of the reply.

        Raises:
            APIStatusError: the reply has another status than that of success.
            TimeoutError: it was not there after so many seconds.
            Exception: no reply came.
        """
        if path not in self._built:
            async with self._building:
                if path not in self._built:
                    self._built[path] = await self._build(path, body)
        url, headers = self._built[path]
        received = await self.lean.http.exchange("POST", url, headers, body, seconds=seconds)
        if 200 <= received.status < 300:
            return received.content
        from httpx2 import Request, Response

        request = Request("POST", str(url))
        failed = Response(received.status, headers=received.headers, content=received.content, request=request)
        raise self.client._make_status_error_from_response(failed)

    async def _build(self, path: str, body: bytes) -> tuple[URL, CIMultiDict[str]]:
        """Address and headers, by the client's method for addresses it has no method of its own for."""
        from httpx2 import Response
        from multidict import CIMultiDict
        from yarl import URL

        with self.lean.holding() as held:
            await self.client.post(path, cast_to=Response, content=body)
        headers = CIMultiDict(held[0].headers.multi_items())
        headers.pop("Content-Length", None)
        return URL(str(held[0].url)), headers


def forget_environment(client: OpenAI | AsyncOpenAI, settings: Settings) -> None:
    """Let a client send only what is meant for the host: it takes more from the environment, whatever its address."""
    client.admin_api_key = None
    if not settings.own:
        client.organization = client.project = None
        client._custom_headers = {}


async def reach(settings: Settings, key_place: str) -> None:
    """Refuse an endpoint that cannot be reached, or a key that it rejects, before any prompt is sent.

    Servers that do not list their models answer with another status: they were reached.

    Raises:
        ModelError: nobody answers, the key is rejected, or somebody else is pointed to.
    """
    from aiohttp import ClientError
    from openai import APIConnectionError, APIStatusError, AuthenticationError, OpenAIError

    async with Connection(settings) as connection:
        try:
            await connection.client.models.list()
        except (APIConnectionError, OSError, ClientError) as error:
            raise ModelError(
                f"no answer from the endpoint ({type(error.__cause__ or error).__name__})",
                expected="an OpenAI-compatible server at that address",
                remedy="Start the server, or correct model_args.base_url.",
                where=settings.base_url,
            ) from error
        except AuthenticationError as error:
            sent = settings.key != NO_KEY
            raise ModelError(
                "the endpoint rejected the API key" if sent else "the endpoint wants an API key, and none was sent",
                expected="a key that it accepts",
                remedy=f"Correct it in {key_place}.",
                where=settings.base_url,
            ) from error
        except APIStatusError as error:
            if (other := other_host(error)) is not None:
                raise ModelError(
                    f"the endpoint redirects to {other}",
                    expected="an endpoint that answers itself: what is meant for one host is not sent to another",
                    remedy="Set model_args.base_url to the address that answers.",
                    where=settings.base_url,
                ) from error
            if error.status_code == NOT_FOUND:
                await _refuse_wrong_path(connection, settings)
        except (OpenAIError, ValueError, TypeError, AttributeError):
            # Whatever it said, it was there.
            return


async def _refuse_wrong_path(connection: Connection, settings: Settings) -> None:
    """Refuse an address below which a server that lists no models there has no API either; nothing is asked.

    A server that has it refuses an empty request for another reason.

    Raises:
        ModelError: it has not.
    """
    from aiohttp import ClientError
    from openai import APIStatusError, OpenAIError

    from contrapose.tasks.infer.asking.http import ReplyTooLargeError

    path = "/chat/completions" if settings.endpoint == "chat" else "/completions"
    try:
        await connection.post(path, b"{}", seconds=PATIENCE)
        return
    except APIStatusError as error:
        if not is_missing_path(error):
            return
    except (OpenAIError, ClientError, ReplyTooLargeError, OSError, ValueError):
        # Whatever happened, it was there.
        return
    remedy = f"Did you mean {settings.base_url}{USUAL_PATH}? Set it as model_args.base_url."
    if settings.base_url.endswith(USUAL_PATH):
        remedy = "Correct model_args.base_url, by the documentation of the server."
    raise ModelError(
        f"the server has no {path} there (status {NOT_FOUND})",
        expected=f"the address of an OpenAI-compatible API, mostly up to and including {USUAL_PATH}",
        remedy=remedy,
        where=settings.base_url,
    )
