"""Reply bodies into completions."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from contrapose.tasks.core.questions import Form, Question
from contrapose.tasks.core.records import Completion, Usage

LEADING = " \n\t▁Ġ"
"""What tokenizers put before a word."""


COUNTS = ("prompt_tokens", "completion_tokens")
"""What the tokens are called that were read and written."""

SCHEMA_FIELD = "answer"
"""The one field of the object in which a schema wants the label."""


ROUND_OFF = 1e-3
"""How far above 0 rounding may take a log-probability, in nats."""
MOST_TOKENS = 2**31 - 1
"""Of one count: what a column of the response store takes in any database."""
LONGEST_NUMBER = 300
"""Digits. What is longer would not be read at all, and take its reply with it."""


class NoLogprobsError(Exception):
    """The endpoint answered, and left the log-probabilities out."""


def read_reply(body: bytes, question: Question) -> Completion:
    """The completion in a reply of either API.

    A choice without text is an answer without text: a reasoning model that is cut off while it thinks gives no other,
    however often it is asked and paid.

    Raises:
        ValueError: the body is broken, or has no choice.
        NoLogprobsError: log-probabilities were asked for and are missing.
    """
    try:
        reply = _parsed(body)
        choice = reply["choices"][0]
        text, usage = _text(choice), _usage(reply.get("usage"))
    except (LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"{type(error).__name__} in the reply") from error
    # A lone half of a surrogate pair is valid JSON and fits into no file.
    text = text.encode(errors="replace").decode()
    if question.kind == "choose":
        return _chosen(text, usage, _listed(choice.get("logprobs")), question.labels)
    label = _held(text, question.form)
    if label in question.labels and not _is_refusal(choice):
        return Completion(text=label, constrained=True, usage=usage)
    # Whatever the endpoint made of the form, this is text like any other: it is read by the usual rules, or not at all.
    return Completion(text=text, usage=usage)


def is_declined(body: bytes) -> bool:
    """Whether a reply that `read_reply` could read is a refusal in a field of its own, as schemas have them."""
    return _is_refusal(_parsed(body)["choices"][0])


def odd_counts(body: bytes) -> str | None:
    """What stands in place of a count of tokens in a reply that `read_reply` could read; None where nothing does."""
    used = _parsed(body).get("usage")
    if used is None:
        return None
    if not isinstance(used, Mapping):
        return f"usage: {_shortly(used)}"
    odd = (name for name in COUNTS if used.get(name) is not None and _count(used[name]) is None)
    return next((f"{name}: {_shortly(used[name])}" for name in odd), None)


def shows_schema(text: str) -> bool:
    """Whether a reply looks like JSON that was asked for, which a prompt never does: its server knows of schemas."""
    return text.lstrip().startswith(("{", "```")) or f'"{SCHEMA_FIELD}"' in text


def loglikelihoods(listed: Mapping[str, float], labels: Sequence[str]) -> tuple[float, ...] | None:
    """The log-probability of each label, in nats; None where no label is among the listed tokens.

    The spellings of a label (with and without a leading space) are added up. A label that is not listed is less
    likely than every listed token: it gets the next number below the lowest of theirs, which is an upper bound.
    """
    by_label = [_sum([value for token, value in listed.items() if token.strip(LEADING) == label]) for label in labels]
    if all(value is None for value in by_label):
        return None
    lowest = math.nextafter(min(listed.values()), -math.inf)
    return tuple(lowest if value is None else value for value in by_label)


def _chosen(text: str, usage: Usage, listed: Mapping[str, float], labels: Sequence[str]) -> Completion:
    scores = loglikelihoods(listed, labels)
    if scores is None:
        return Completion(text=text, usage=usage)
    return Completion(text=labels[scores.index(max(scores))], option_loglikelihoods=scores, usage=usage)


def _held(text: str, form: Form) -> str | None:
    """The label that a reply in a form consists of; None where it is no such reply. Nothing is guessed."""
    if form != "json_schema":
        return None if form == "plain" else text
    try:
        # As pairs: of two fields with one name the second would win.
        pairs = json.loads(text, object_pairs_hook=tuple)
    except (ValueError, RecursionError):
        return None
    match pairs:
        case ((name, str(label)),) if name == SCHEMA_FIELD and text.lstrip().startswith("{"):
            return label
    return None


def _is_refusal(choice: Mapping[str, Any]) -> bool:
    message = choice.get("message") or {}
    return message.get("content") is None and message.get("refusal") is not None


def _text(choice: Mapping[str, Any]) -> str:
    message = choice.get("message")
    if message is None:
        text = choice["text"]
    else:
        # A refusal is what the model said: it is read as a reply. Some servers leave out what is null.
        text = message.get("content") if message.get("content") is not None else message.get("refusal")
        if not message:
            raise ValueError("an empty message")
    if text is not None and not isinstance(text, str):
        raise TypeError("text")
    return text or ""


def _usage(used: Any) -> Usage:
    """Tokens as the endpoint counts them; 0 where it does not, or says something else."""
    counts = used if isinstance(used, Mapping) else {}
    prompt_tokens, completion_tokens = (_count(counts.get(name)) or 0 for name in COUNTS)
    return Usage(calls=1, prompt_tokens=prompt_tokens, completion_tokens=completion_tokens)


def _count(value: Any) -> int | None:
    """A number of tokens; None for anything else: no number, none that is whole, none that a reply can have."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if 0 <= value <= MOST_TOKENS and value == int(value) else None


_READER = json.JSONDecoder(parse_int=lambda digits: int(digits) if len(digits) <= LONGEST_NUMBER else float(digits))
"""Python refuses to read whole numbers of thousands of digits."""


def _parsed(body: bytes) -> Any:
    """JSON of an endpoint, in any encoding that JSON may have."""
    return _READER.decode(body.decode(json.detect_encoding(body), "surrogatepass"))


def _shortly(value: Any) -> str:
    return json.dumps(value)[:40]


def _listed(logprobs: Any) -> dict[str, float]:
    """The likeliest first tokens and their log-probabilities, as the chat API or the older one lists them."""
    try:
        if "content" in logprobs:
            first = logprobs["content"][0]
            # The token itself, where it was drawn from below the list, would lower the bound.
            pairs = [(entry["token"], entry["logprob"]) for entry in first["top_logprobs"] or [first]]
        else:
            pairs = list(logprobs["top_logprobs"][0].items())
    except (LookupError, TypeError, AttributeError) as error:
        raise NoLogprobsError("no log-probabilities in the reply") from error
    listed = {token: float(value) for token, value in pairs if isinstance(token, str) and _is_log_probability(value)}
    if not listed:
        raise NoLogprobsError("no log-probabilities in the reply")
    return listed


def _is_log_probability(value: Any) -> bool:
    """Whether it is a finite number up to 0, but for rounding."""
    return isinstance(value, int | float) and not isinstance(value, bool) and -math.inf < value <= ROUND_OFF


def _sum(values: Sequence[float]) -> float | None:
    if not values:
        return None
    top = max(values)
    # Spellings of an endpoint that overstates them are together no likelier than certain.
    return min(ROUND_OFF, top + math.log(sum(math.exp(value - top) for value in values)))
