"""What a failed request means: try again, slow down, give up this prompt, or stop the run."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal
from urllib.parse import urljoin

from contrapose.tasks.config.hosts import Origin, origin_of
from contrapose.tasks.core.questions import TOO_LONG
from contrapose.tasks.infer.asking.outcomes import AGAIN, OVERLOADED, Failure, asked_wait
from contrapose.tasks.infer.openai.key import NO_KEY
from contrapose.tasks.infer.openai.settings import USER_INFO

if TYPE_CHECKING:
    from openai import APIStatusError

REFUSED = (401, 402, 403)
TOO_LONG_SAID = re.compile(
    r"context[_ ](?:length|window|size)|maximum context|prompt is too long|input is too long|too many (?:input )?tokens"
    r"|max_model_len|exceeds? the (?:model'?s )?(?:maximum|context|available)",
    re.IGNORECASE,
)
"""How servers say that a prompt does not fit: OpenAI, vLLM, llama.cpp, TGI, Anthropic and others."""


def unreachable(error: BaseException, key: str) -> Failure:
    """The connection could not be made, or broke."""
    return Failure(kind="connection", message=f"no connection: {one_line_error(_root(error), key)}", then="retry")


def broken(error: Exception, key: str, *, then: Literal["retry", "give up"] = "retry") -> Failure:
    """A reply that cannot be read."""
    why = f"a reply that cannot be read ({one_line_error(error, key)})"
    return Failure(kind="broken reply", message=why, then=then, billed=True, unreadable=True)


def refused(error: APIStatusError, key: str) -> Failure:
    """A reply with an error status."""
    status, wait = error.status_code, asked_wait(error.response.headers)
    if status < 400:
        return _elsewhere(error, key)
    limited = status in OVERLOADED or (status == 503 and wait is not None)
    text = f"status {status}: {one_line_error(error, key)}"
    if (other := other_host(error)) is not None:
        text = f"status {status}: it redirects to {other}, which is not followed"
    if other is not None or _hopeless(error):
        return Failure(
            kind=f"status {status}",
            message=f"the endpoint refuses every request; {text}",
            then="stop",
            # These may concern one prompt alone, where others were answered.
            certain=status not in (403, 404),
            status=status,
        )
    if limited:
        return Failure(kind=f"status {status}", message=text, then="wait", wait=wait, overload=True, status=status)
    if status in (400, 413, 422) and (error.code == "context_length_exceeded" or TOO_LONG_SAID.search(str(error))):
        return Failure(kind=f"status {status}", message=f"{TOO_LONG}; {text}", then="give up", status=status)
    again = status >= 500 or status in AGAIN
    return Failure(
        kind=f"status {status}", message=text, then="retry" if again else "give up", status=status, wait=wait
    )


def other_host(error: APIStatusError) -> Origin | None:
    """The origin that a reply points to instead; None where it is the same one, or the reply points nowhere."""
    location, asked = error.response.headers.get("location"), str(error.request.url)
    if not (location and 300 <= error.status_code < 400):
        return None
    try:
        other = origin_of(urljoin(asked, location))
    except ValueError:
        return None
    return None if other == origin_of(asked) else other


def one_line_error(failure: BaseException, key: str) -> str:
    """An error in one line. Some servers repeat the key that they were sent: it never gets into a file."""
    return f"{type(failure).__name__}: {_cleaned(str(failure), key)}"


def _cleaned(text: str, key: str) -> str:
    words = USER_INFO.sub("//…@", text if key == NO_KEY else text.replace(key, "…"))
    return " ".join(words.split())[:300]


def _elsewhere(error: APIStatusError, key: str) -> Failure:
    """A reply that leads away: another address would be sent key and prompt, another protocol is not spoken."""
    status, place = error.status_code, error.response.headers.get("location")
    way = f"redirects to {_cleaned(place, key)}" if place else "does not reply, but changes address or protocol"
    why = f"the endpoint {way} (status {status}), which is not followed; correct model_args.base_url"
    return Failure(kind=f"status {status}", message=why, then="stop", status=status)


def is_missing_path(error: APIStatusError) -> bool:
    """Whether a reply to an empty request says that the server has no such address, and not that it lacks a model."""
    return error.status_code == 404 and error.code != "model_not_found" and "model" not in str(error).lower()


def _hopeless(error: APIStatusError) -> bool:
    """Whether every other prompt would be refused too."""
    if error.status_code == 404:
        # A body that is no error of the API comes from a server that has no such address.
        named = error.code == "model_not_found" or "model" in str(error).lower()
        return named or not isinstance(error.body, dict)
    return error.status_code in REFUSED or (error.status_code == 429 and error.code == "insufficient_quota")


def _root(error: BaseException) -> BaseException:
    """The first cause: the client's own words are `Connection error.`."""
    while error.__cause__ is not None:
        error = error.__cause__
    return error
