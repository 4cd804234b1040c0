"""Convert errors of an OpenAI API to failures: try again, slow down, give up this prompt, or stop the run."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal
from urllib.parse import urljoin

from contrapose.tasks.config.hosts import Origin, origin_of
from contrapose.tasks.core.questions import TOO_LONG
from contrapose.tasks.infer.asking.outcomes import Failure, classify_status, read_retry_after, remove_secrets
from contrapose.tasks.infer.openai.key import NO_KEY
from contrapose.tasks.infer.openai.settings import USER_INFO

if TYPE_CHECKING:
    from openai import APIStatusError

REFUSED = (401, 402, 403)
NO_MODEL = "model_not_found"
NO_DEPLOYMENT = "DeploymentNotFound"
"""Azure's error code for a model that it does not have."""
TOO_LONG_SAID = re.compile(
    r"context[_ ](?:length|window|size)|maximum context|prompt is too long|input is too long|too many (?:input )?tokens"
    r"|max_model_len|exceeds? the (?:model'?s )?(?:maximum|context|available)",
    re.IGNORECASE,
)
"""Messages for a prompt that is too long, from OpenAI, vLLM, llama.cpp, TGI, Anthropic and others."""

# A content filter refuses a prompt in a code or in words of its own; every gateway has others.

NEVER = (401, 402, 404, 408, 409, 429)
"""Statuses that concern the key, the address or the pace, whatever their words are."""
CODE = re.compile(
    r"content[_ ]?(?:filter|polic|moderation|safety|management)|moderat|guardrail|responsible_?ai|prohibited_?content"
    r"|data_?inspection|^safety|recitation|blocklist|^spii|^sensitive|safety_(?:violation|check)|policy_?violation",
    re.IGNORECASE,
)
"""Codes, types and finish reasons that mean a content filter."""
WORDS = re.compile(
    r"content[ _](?:filter|polic|moderation|safety|management|exists risk)|guardrail"
    r"|safety (?:system|filter|polic|setting)"
    r"|(?:input|prompt|request|content|message|text|output|response)s? (?:was |were |has been |is |are )?"
    r"(?:flagged|moderated|censored|(?:blocked|filtered|rejected)\b.{0,60}(?:polic|filter|safety|moderation|security))"
    r"|violat\w+ .{0,60}(?:polic|guideline|terms)|prohibited content|inappropriate content|considered high risk"
    r"|敏感|不安全|违规",
    re.IGNORECASE,
)
"""Messages that mean a content filter."""
OTHERWISE = re.compile(
    r"unsupported|unrecogni[sz]ed|unknown (?:parameter|argument|field)|extra inputs"
    r"|(?:account|organi[sz]ation|project|user|access)\b.{0,40}"
    r"(?:suspend|deactivat|terminat|disabled|banned|blocked|restricted|revoked)",
    re.IGNORECASE,
)
"""Messages about parameters or the account, which would refuse any other prompt, too."""
PAIR = re.compile(r'"(\w+)": "((?:[^"\\]|\\.)*)"')
CODES = ("code", "type", "reason", "status", "blockReason", "block_reason")
FLAGS = re.compile(r'"filtered": true|"flagged_input": "|"reasons": \[')
"""Details that mean a filtered prompt at Azure and OpenRouter."""


def make_connection_failure(error: BaseException, key: str) -> Failure:
    """Return the failure for a connection that could not be opened, or that broke."""
    # The client's own words are `Connection error.`: the first cause says more.
    while error.__cause__ is not None:
        error = error.__cause__
    return Failure(kind="connection", message=f"no connection: {format_error_line(error, key)}", then="retry")


def make_unreadable_failure(error: Exception, key: str, *, then: Literal["retry", "give up"] = "retry") -> Failure:
    """Return the failure for a reply that cannot be read."""
    why = f"a reply that cannot be read ({format_error_line(error, key)})"
    return Failure(kind="broken reply", message=why, then=then, billed=True, unreadable=True, outcome="malformed")


def make_status_failure(error: APIStatusError, key: str) -> Failure:
    """Return the failure for a reply with an error status."""
    status = error.status_code
    if status < 400:
        # It leads away: another address would be sent key and prompt, another protocol is not spoken.
        place = error.response.headers.get("location")
        way = f"redirects to {_clean(place, key)}" if place else "does not reply, but changes address or protocol"
        why = f"the endpoint {way} (status {status}), which is not followed; correct model_args.base_url"
        return Failure(kind=f"status {status}", message=why, then="stop", status=status)
    text = f"status {status}: {format_error_line(error, key)}"
    return classify_error(status, error.body, text, key=key, wait=read_retry_after(error.response.headers))


def make_reply_failure(body: object, key: str) -> Failure:
    """Return the failure for an error in a reply of status 200; if it names a status, that one counts."""
    code = body.get("code", body.get("status")) if isinstance(body, Mapping) else None
    named = int(code) if isinstance(code, int | str) and str(code).isdecimal() and 400 <= int(code) <= 599 else None
    text = f"an error in a reply of status 200: {_clean(_quote(body), key)}"
    return classify_error(named or 500, body, text, key=key, filter_status=named or 400)


def classify_error(
    status: int, body: object, text: str, *, key: str, wait: float | None = None, filter_status: int | None = None
) -> Failure:
    """Return the failure for an error by its status and body; `text`: its message."""
    if is_moderated(filter_status or status, body):
        # A prompt that a filter refuses, whatever else is asked or how.
        message = _clean(_quote(body), key)
        return Failure(kind="moderated", message=message, then="give up", outcome="moderated")
    code = str(body.get("code")) if isinstance(body, Mapping) else ""
    # A 404 whose body is no error of the API comes from a server that has no such address.
    no_model = code in (NO_MODEL, NO_DEPLOYMENT) or "model" in _quote(body).lower() or not isinstance(body, Mapping)
    if status in REFUSED or (status == 404 and no_model) or (status == 429 and code == "insufficient_quota"):
        return Failure(
            kind=f"status {status}",
            message=f"the endpoint refuses every request; {text}",
            then="stop",
            # These may concern one prompt alone, where others were answered.
            certain=status not in (403, 404),
            status=status,
        )
    if status in (400, 413, 422) and (code == "context_length_exceeded" or TOO_LONG_SAID.search(_quote(body))):
        return Failure(kind=f"status {status}", message=f"{TOO_LONG}; {text}", then="give up", status=status)
    return classify_status(status, text, wait=wait)


def is_moderated(status: int, body: object) -> bool:
    """Return whether a content filter refused the prompt; then only this prompt is refused, and always."""
    if status in NEVER or not body or (isinstance(body, str) and body.lstrip().startswith("<")):
        return False
    text = json.dumps(body, ensure_ascii=False)
    if FLAGS.search(text) or any(CODE.search(value) for name, value in PAIR.findall(text) if name in CODES):
        return True
    # A server that fails may well speak of a filter that is out of order.
    return status < 500 and WORDS.search(text) is not None and not OTHERWISE.search(text)


def _quote(body: object) -> str:
    """Return the text of an error body: its message, then the rest."""
    if isinstance(body, Mapping) and isinstance(body.get("message"), str):
        rest = {name: value for name, value in body.items() if name != "message" and value is not None}
        return f"{body['message']} {json.dumps(rest, ensure_ascii=False)}" if rest else str(body["message"])
    return body if isinstance(body, str) else json.dumps(body, ensure_ascii=False)


def find_other_origin(error: APIStatusError) -> Origin | None:
    """Return the other origin that a reply redirects to; None if it is the same one, or it does not redirect."""
    location, asked = error.response.headers.get("location"), str(error.request.url)
    if not (location and 300 <= error.status_code < 400):
        return None
    try:
        other = origin_of(urljoin(asked, location))
    except ValueError:
        return None
    return None if other == origin_of(asked) else other


def format_error_line(failure: BaseException, key: str) -> str:
    """Return an error in one line, without the key, because some servers repeat it and it must not get into a file."""
    return f"{type(failure).__name__}: {_clean(str(failure), key)}"


def _clean(text: str, key: str) -> str:
    words = USER_INFO.sub("//…@", text if key == NO_KEY else remove_secrets(text, [key]))
    return " ".join(words.split())[:300]
