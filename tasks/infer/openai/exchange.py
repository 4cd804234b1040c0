"""One request and what came of it."""

from __future__ import annotations

import re
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from contrapose.tasks.core.questions import Question
from contrapose.tasks.core.records import Completion, Usage
from contrapose.tasks.infer.asking.http import ReplyTooLargeError
from contrapose.tasks.infer.asking.outcomes import Failure, Reply, timed_out
from contrapose.tasks.infer.openai.bodies import Bodies
from contrapose.tasks.infer.openai.connection import Connection
from contrapose.tasks.infer.openai.failures import broken, in_reply, one_line_error, refused, unreachable
from contrapose.tasks.infer.openai.replies import ErrorReplyError, NoLogprobsError, odd_counts, read_reply

REMEDY = "set model_args.logprobs to false, and scorer or read_with to one that reads replies"

FORM_REMEDY = "set model_args.constrained to off, or use --refresh to find out again what the endpoint takes"
NAMED = re.compile("response_format|json_schema|structured_outputs|guided_choice")
"""What a server names that does not take a form."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAIWay:
    """Requests to the OpenAI API of one endpoint."""

    connection: Connection
    """Makes them."""
    bodies: Bodies
    """How questions are put."""

    def most(self, question: Question) -> Usage:
        """What a request takes at most."""
        return self.bodies.most(question)

    async def request(self, question: Question, *, timeout: float) -> Reply | Failure:
        """Make one request. Whatever goes wrong is told, never raised."""
        return await exchange(self.connection, self.bodies, question, timeout=timeout)


@asynccontextmanager
async def open_way(bodies: Bodies) -> AsyncIterator[OpenAIWay]:
    """A connection for one call."""
    async with Connection(bodies.settings) as connection:
        yield OpenAIWay(connection=connection, bodies=bodies)


async def exchange(connection: Connection, bodies: Bodies, question: Question, *, timeout: float) -> Reply | Failure:
    """Make one request. Whatever goes wrong is told, never raised."""
    from aiohttp import ClientError, ClientPayloadError, ClientResponseError
    from openai import APIStatusError, OpenAIError

    listed, key = bodies.listed, bodies.settings.key
    try:
        return await _post(connection, bodies, question, timeout)
    except TimeoutError:
        return timed_out(timeout)
    except APIStatusError as error:
        return _without_form(_without_logprobs(refused(error, key), bodies, question, listed), question)
    except ErrorReplyError as error:
        return in_reply(error.args[0], key)
    except (ClientPayloadError, ClientResponseError) as error:
        # Something came, and was no reply of HTTP.
        return broken(error, key)
    except (OpenAIError, ClientError, OSError) as error:
        return unreachable(error, key)
    except NoLogprobsError:
        return Failure(kind="no log-probabilities", message=_missing("returned no log-probabilities"), then="stop")
    except ReplyTooLargeError as error:
        # It would be as long the next time, and paid for again.
        return broken(error, key, then="give up")
    except ValueError as error:
        return broken(error, key)
    except Exception as error:
        # Whatever broke this one request, the others go on.
        return Failure(kind="error", message=one_line_error(error, key), then="give up")


async def _post(connection: Connection, bodies: Bodies, question: Question, timeout: float) -> Reply:
    start = time.monotonic()
    content = await connection.post(bodies.path, bodies.body(question), seconds=timeout)
    completion, seconds = read_reply(content, question), time.monotonic() - start
    return Reply(completion=completion, seconds=seconds, odd=_odd(completion, content))


def _odd(completion: Completion, content: bytes) -> str | None:
    """A count that is none leaves a count at 0; a reply with both is not looked at again."""
    used = completion.usage
    return None if used.prompt_tokens and used.completion_tokens else odd_counts(content)


def _without_logprobs(failure: Failure, bodies: Bodies, question: Question, listed: int) -> Failure:
    """Some servers list five tokens at most, and some none: both say so with status 400."""
    if question.kind != "choose" or failure.status not in (400, 422) or "logprobs" not in failure.message:
        return failure
    if bodies.list_fewer(listed):
        return Failure(kind="fewer log-probabilities", message=failure.message, then="wait", wait=0.0)
    return Failure(kind="no log-probabilities", message=_missing(f"refuses ({failure.message})"), then="stop")


def _without_form(failure: Failure, question: Question) -> Failure:
    """A refusal that names the form comes from a server that is not what it was, or not what the user takes it for."""
    if question.form == "plain" or failure.status not in (400, 422) or not NAMED.search(failure.message):
        return failure
    return replace(failure, message=f"{failure.message}; {FORM_REMEDY}")


def _missing(what: str) -> str:
    return f"the endpoint {what}; {REMEDY}"
