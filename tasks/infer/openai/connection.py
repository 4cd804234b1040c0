"""Requests to an OpenAI API: the official client builds one, and aiohttp sends it again with other bodies.

The client's own transport spends more time in URL, header, cookie and redirect objects than in the request.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import httpx2
from aiohttp import ClientError, ClientPayloadError, ClientResponseError
from multidict import CIMultiDict
from yarl import URL

from contrapose.tasks.config.hosts import origin_of
from contrapose.tasks.core.errors import ModelError
from contrapose.tasks.core.questions import Question
from contrapose.tasks.core.records import Usage
from contrapose.tasks.infer.asking.asker import Transport
from contrapose.tasks.infer.asking.http import HttpClient, ReplyTooLargeError
from contrapose.tasks.infer.asking.outcomes import Failure, Reply, make_timeout_failure, remove_secrets_from_completion
from contrapose.tasks.infer.openai.bodies import RequestBodies
from contrapose.tasks.infer.openai.entra import read_token
from contrapose.tasks.infer.openai.failures import (
    NO_DEPLOYMENT,
    NO_MODEL,
    find_other_origin,
    format_error_line,
    make_connection_failure,
    make_reply_failure,
    make_status_failure,
    make_unreadable_failure,
)
from contrapose.tasks.infer.openai.key import NO_KEY
from contrapose.tasks.infer.openai.refusals import ParameterRefusal, find_refused_parameter, make_logprobs_refusal
from contrapose.tasks.infer.openai.response_parsing import (
    ErrorReplyError,
    NoLogprobsError,
    correct_counts,
    parse_model_list,
    read_reply,
)
from contrapose.tasks.infer.openai.settings import Settings
from contrapose.tasks.infer.openai.vendors import BEARER

if TYPE_CHECKING:
    from openai import APIStatusError, AsyncOpenAI, OpenAI
    from openai._types import RequestOptions


NOT_FOUND = 404
"""Status of an address that a server does not have."""
PATIENCE = 10.0
"""Seconds for a request that asks nothing."""
USUAL_PATH = "/v1"
"""Path of the API on most servers."""
ODD_COUNTS = (
    "The endpoint says {} where a number of tokens should stand that such a request can take. Such counts are left "
    "out, and the budget goes by estimates in their place."
)
ENCODINGS = {"Accept-Encoding": "gzip, deflate"}
"""Encodings that are unpacked without further libraries."""


class Connection:
    """Sends requests that the official client has built once, with other bodies.

    A run sends thousands of requests to one address that differ in their body alone. The client builds the first
    one, with its address, key and headers, and reads every failure; building it again takes longer than sending it.
    Retries and time limits of the client are off: ours count for the complete run, and cover every hang.
    """

    def __init__(self, settings: Settings) -> None:
        from openai import AsyncOpenAI

        self.http = HttpClient(settings.address)
        # Nothing is sent by it: each request counts as answered.
        answered = httpx2.MockTransport(lambda request: httpx2.Response(200, request=request))
        unsent = httpx2.AsyncClient(transport=answered, trust_env=False, timeout=None, headers=ENCODINGS)
        self.client = AsyncOpenAI(**settings.client_options(), timeout=None, max_retries=0, http_client=unsent)
        self.settings, self.key = settings, settings.key
        forget_environment(self.client, settings)
        self._built: dict[str, tuple[URL, CIMultiDict[str]]] = {}

    async def exchange(self, path: str, body: bytes | None, *, seconds: float) -> bytes:
        """Send a POST request with a JSON body, or a GET request without; return the body of the reply."""
        if path not in self._built:
            self._built[path] = await self._build(path, body)
        (url, headers), method = self._built[path], "GET" if body is None else "POST"
        if self.settings.entra:
            # It may have to be renewed, which takes a request.
            self.key = await asyncio.to_thread(read_token)
            headers[BEARER] = f"Bearer {self.key}"
        received = await self.http.exchange(method, url, headers, body or b"", seconds=seconds)
        if 200 <= received.status < 300:
            return received.content
        request = httpx2.Request(method, str(url))
        failed = httpx2.Response(received.status, headers=received.headers, content=received.content, request=request)
        raise self.client._make_status_error_from_response(failed)

    async def _build(self, path: str, body: bytes | None) -> tuple[URL, CIMultiDict[str]]:
        """Return the address and headers of a request, as the client builds them."""
        options: RequestOptions = {"headers": self.settings.key_headers(is_list=body is None)}
        if body is None:
            answered = await self.client.get(path, cast_to=httpx2.Response, options=options)
        else:
            answered = await self.client.post(path, cast_to=httpx2.Response, content=body, options=options)
        headers = CIMultiDict(answered.request.headers.multi_items())
        headers.pop("Content-Length", None)
        return URL(str(answered.request.url)), headers

    async def close(self) -> None:
        """Close the session and its connections."""
        await self.client.close()
        await self.http.close()


def forget_environment(client: OpenAI | AsyncOpenAI, settings: Settings) -> None:
    """Remove what the client takes from the environment for any host, so that it sends only what the host may have."""
    client.admin_api_key = None
    if not settings.own:
        client.organization = client.project = None
        client._custom_headers = {}


class OpenAITransport(Transport):
    """Makes requests to the OpenAI API of one endpoint; while `trying`, a refused parameter does not stop the run."""

    def __init__(self, bodies: RequestBodies, *, trying: bool = False) -> None:
        self.bodies, self.trying = bodies, trying
        self.connection = Connection(bodies.settings)

    async def close(self) -> None:
        """Close the connection."""
        await self.connection.close()

    def max_usage(self, question: Question) -> Usage:
        """Return the greatest usage of a request."""
        return self.bodies.estimate_usage(question)

    async def request(self, question: Question, *, timeout: float) -> Reply | Failure:
        """Make one request, and return its failure, if any, instead of raising it."""
        outcome = await self._exchange(question, timeout=timeout)
        if isinstance(outcome, ParameterRefusal):
            self.bodies.refused[outcome.message] = outcome
            return replace(outcome, then="give up") if self.trying else outcome
        return outcome

    async def _exchange(self, question: Question, *, timeout: float) -> Reply | Failure:
        from openai import APIStatusError, OpenAIError

        bodies, connection, start = self.bodies, self.connection, time.monotonic()
        try:
            sent = bodies.make_body(question)
            content = await connection.exchange(bodies.settings.path, sent, seconds=timeout)
            completion, seconds = read_reply(content, question), time.monotonic() - start
            written = bodies.estimate_usage(question).completion_tokens
            completion, odd = correct_counts(completion, content, sent=len(sent), written=written)
            # Before anything stores it: a server may repeat the key that it was sent.
            completion = remove_secrets_from_completion(completion, [connection.key])
            remarks = {} if odd is None else {"token counts": ODD_COUNTS.format(odd)}
            return Reply(completion=completion, seconds=seconds, remarks=remarks)
        except TimeoutError:
            return make_timeout_failure(timeout)
        except APIStatusError as error:
            failure, body = make_status_failure(error, connection.key), error.body
        except ErrorReplyError as error:
            failure, body = make_reply_failure(error.args[0], connection.key), error.args[0]
        except (ClientPayloadError, ClientResponseError) as error:
            # Something came, and was no reply of HTTP.
            return make_unreadable_failure(error, connection.key)
        except (OpenAIError, ClientError, OSError) as error:
            return make_connection_failure(error, connection.key)
        except NoLogprobsError:
            return make_logprobs_refusal()
        except ReplyTooLargeError as error:
            # It would be as long the next time, and paid for again.
            return make_unreadable_failure(error, connection.key, then="give up")
        except ValueError as error:
            return make_unreadable_failure(error, connection.key)
        except Exception as error:
            # Whatever broke this one request, the others go on.
            return Failure(kind="error", message=format_error_line(error, connection.key), then="give up")
        return find_refused_parameter(failure, body, question, sent=json.loads(sent)) or failure


async def list_served_models(settings: Settings, key_place: str, model: str) -> Sequence[str]:
    """Return the models that an endpoint lists; raise ModelError if it cannot be reached or rejects the key.

    No prompt is sent. Servers that do not list their models answer with another status: they were reached.
    """
    from openai import APIStatusError, AuthenticationError, OpenAIError

    connection, where = Connection(settings), settings.address
    try:
        if settings.vendor.lists_models:
            return parse_model_list(await connection.exchange("/models", None, seconds=PATIENCE))
        await connection.exchange(settings.path, json.dumps({"model": model}).encode(), seconds=PATIENCE)
    except (OSError, ClientError) as error:
        raise ModelError(
            f"no answer from the endpoint ({type(error).__name__})",
            expected="an OpenAI-compatible server at that address",
            remedy="Start the server, or correct model_args.base_url.",
            where=where,
        ) from error
    except AuthenticationError as error:
        sent = settings.key != NO_KEY
        raise ModelError(
            "the endpoint rejected the API key" if sent else "the endpoint wants an API key, and none was sent",
            expected="a key that it accepts",
            remedy=f"Correct it in {key_place}.",
            where=where,
        ) from error
    except APIStatusError as error:
        if (refused := await _explain_wrong_address(error, connection, model)) is not None:
            raise refused from None
    except (OpenAIError, ReplyTooLargeError):
        # Whatever it said, it was there.
        return ()
    finally:
        await connection.close()
    return ()


async def _explain_wrong_address(error: APIStatusError, connection: Connection, model: str) -> ModelError | None:
    """Return what is wrong with the address of an endpoint that answered with a status, or None if nothing is."""
    settings = connection.settings
    if (other := find_other_origin(error)) is not None:
        what = f"the endpoint redirects to {other}"
        expected = "an endpoint that answers itself: what is meant for one host is not sent to another"
        remedy = "Set model_args.base_url to the address that answers."
    elif error.code == NO_DEPLOYMENT:
        what, expected = f"there is no deployment {model!r}", "the name of a deployment of this resource"
        remedy = "Correct the name, or wait some minutes after the deployment was made."
    elif error.status_code == NOT_FOUND and await _is_path_missing(connection):
        what = f"the server has no {settings.path} there (status {NOT_FOUND})"
        expected = f"the address of an OpenAI-compatible API, mostly up to and including {USUAL_PATH}"
        remedy = f"Did you mean {settings.address}{USUAL_PATH}? Set it as model_args.base_url."
        if settings.address.endswith(USUAL_PATH):
            remedy = "Correct model_args.base_url, by the documentation of the server."
    else:
        return None
    return ModelError(what, expected=expected, remedy=remedy, where=settings.address)


async def read_digest(settings: Settings, model: str) -> str:
    """Return the digest of a model's weights from the list in the server's own API; empty if it is not listed."""
    from openai import OpenAIError

    connection = Connection(settings)
    try:
        url = f"{origin_of(settings.address)}{settings.vendor.digests}"
        listed = json.loads(await connection.exchange(url, None, seconds=PATIENCE))["models"]
        return next((str(entry["digest"]) for entry in listed if is_listed(model, [entry["name"]])), "")
    except (OpenAIError, ClientError, ReplyTooLargeError, OSError, ValueError, LookupError, TypeError):
        return ""
    finally:
        await connection.close()


def is_listed(model: str, listed: Sequence[str]) -> bool:
    """Return whether a model is in a list: by its name, with the tag `latest`, or with a date."""
    names = [name.removeprefix("models/") for name in listed]
    return any(name in (model, f"{model}:latest") or name.startswith(f"{model}-") for name in names)


async def _is_path_missing(connection: Connection) -> bool:
    """Return whether a server that lists no models also has no API at an address; no prompt is sent.

    A server that has it refuses an empty request for another reason.
    """
    from openai import APIStatusError, OpenAIError

    try:
        await connection.exchange(connection.settings.path, b"{}", seconds=PATIENCE)
    except APIStatusError as error:
        # Where a model is missing, the address is right.
        return error.status_code == NOT_FOUND and error.code != NO_MODEL and "model" not in str(error).lower()
    except (OpenAIError, ClientError, ReplyTooLargeError, OSError, ValueError):
        # Whatever happened, it was there.
        return False
    return False
