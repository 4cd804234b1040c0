"""One request and what came of it."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from contrapose.tasks.core.questions import Question
from contrapose.tasks.core.records import Usage
from contrapose.tasks.infer.asking.http import ReplyTooLargeError
from contrapose.tasks.infer.asking.outcomes import Failure, Reply, timed_out, without_secrets_in
from contrapose.tasks.infer.openai.bodies import Bodies
from contrapose.tasks.infer.openai.connection import Connection
from contrapose.tasks.infer.openai.failures import broken, in_reply, one_line_error, refused, unreachable
from contrapose.tasks.infer.openai.refusals import ParameterRefusal, no_logprobs, refused_parameter
from contrapose.tasks.infer.openai.replies import ErrorReplyError, NoLogprobsError, believed, read_reply


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAIWay:
    """Requests to the OpenAI API of one endpoint."""

    connection: Connection
    """Makes them."""
    bodies: Bodies
    """How questions are put."""
    trying: bool = False
    """Whether it is found out what the endpoint refuses: then a parameter that it refuses stops nothing."""

    def most(self, question: Question) -> Usage:
        """What a request takes at most."""
        return self.bodies.most(question)

    async def request(self, question: Question, *, timeout: float) -> Reply | Failure:
        """Make one request. Whatever goes wrong is told, never raised."""
        outcome = await exchange(self.connection, self.bodies, question, timeout=timeout)
        if isinstance(outcome, ParameterRefusal):
            self.bodies.refused[outcome.message] = outcome
            return replace(outcome, then="give up") if self.trying else outcome
        return outcome


@asynccontextmanager
async def open_way(bodies: Bodies, *, trying: bool = False) -> AsyncIterator[OpenAIWay]:
    """A connection for one call."""
    async with Connection(bodies.settings) as connection:
        yield OpenAIWay(connection=connection, bodies=bodies, trying=trying)


async def exchange(connection: Connection, bodies: Bodies, question: Question, *, timeout: float) -> Reply | Failure:
    """Make one request. Whatever goes wrong is told, never raised."""
    from aiohttp import ClientError, ClientPayloadError, ClientResponseError
    from openai import APIStatusError, OpenAIError

    key = bodies.settings.key
    try:
        return await _post(connection, bodies, question, timeout)
    except TimeoutError:
        return timed_out(timeout)
    except APIStatusError as error:
        return _named(refused(error, key), error.body, bodies, question)
    except ErrorReplyError as error:
        return _named(in_reply(error.args[0], key), error.args[0], bodies, question)
    except (ClientPayloadError, ClientResponseError) as error:
        # Something came, and was no reply of HTTP.
        return broken(error, key)
    except (OpenAIError, ClientError, OSError) as error:
        return unreachable(error, key)
    except NoLogprobsError:
        return no_logprobs()
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
    sent = bodies.body(question)
    content = await connection.post(bodies.path, sent, seconds=timeout)
    completion, seconds = read_reply(content, question), time.monotonic() - start
    written = bodies.most(question).completion_tokens
    completion, odd = believed(completion, content, sent=len(sent), written=written)
    # Before anything stores it: a server may repeat the key that it was sent.
    completion = without_secrets_in(completion, [bodies.settings.key])
    return Reply(completion=completion, seconds=seconds, odd=odd)


def _named(failure: Failure, error: object, bodies: Bodies, question: Question) -> Failure:
    """The same failure, or what it says of a parameter of the request."""
    return refused_parameter(failure, error, question, sent=json.loads(bodies.body(question))) or failure
