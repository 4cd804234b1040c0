"""Reply bodies into completions."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple

from contrapose.tasks.core.questions import Form, Question
from contrapose.tasks.core.records import Completion, Usage
from contrapose.tasks.core.reply_outcomes import ReplyOutcome

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
TEMPLATE_TOKENS = 4_096
"""Of a prompt, beside those that are sent: a chat template, and what a server puts before every prompt."""
MOST_HIDDEN = 131_072
"""Of thoughts that are not shown: more than any model writes."""
LONGEST_NUMBER = 300
"""Digits. What is longer would not be read at all, and take its reply with it."""


PARTS: Mapping[object, str] = {
    **dict.fromkeys(("text", "output_text", "input_text"), "text"),
    **dict.fromkeys(("thinking", "redacted_thinking", "reasoning", "thought"), "thoughts"),
    **dict.fromkeys(("tool_use", "tool_call", "function_call"), "call"),
    "refusal": "refusal",
}
"""What a part of a content holds, by its type; any other part holds nothing that is read."""
THOUGHTS = ("reasoning_content", "reasoning", "thinking")
CALLS = ("tool_calls", "function_call")
"""Fields beside a content that is null: what the model thought, and the tools that it called."""
FINISHES: Mapping[ReplyOutcome, re.Pattern[str]] = {
    "error": re.compile(r"error|abort|insufficient_system_resource|failed|cancel"),
    "moderated": re.compile(r"content_?filter|safety|recitation|blocklist|prohibited|spii|guardrail|sensitive|moderat"),
    "refused": re.compile(r"refus"),
    "tool_call": re.compile(r"tool|function"),
    "cut_off": re.compile(r"length|max_\w*tokens"),
}
"""What finish reasons of OpenAI, Azure, Gemini, Anthropic, Mistral, DeepSeek, OpenRouter and vLLM are called."""

Ended = ReplyOutcome | Literal[""]
"""What a finish reason says; empty where there is none."""


class NoLogprobsError(Exception):
    """The endpoint answered, and left the log-probabilities out."""


class ErrorReplyError(Exception):
    """The endpoint says in a reply of status 200 that it failed; the argument is what it says."""


class Said(NamedTuple):
    """What a reply says."""

    text: str
    outcome: ReplyOutcome
    logprobs: Any = None
    """As the endpoint lists them."""


def read_reply(body: bytes, question: Question) -> Completion:
    """The completion in a reply of either API.

    A choice without text is an answer without text: a reasoning model that is cut off while it thinks gives no other,
    however often it is asked and paid.

    Raises:
        ValueError: the body is broken, or has no choice.
        NoLogprobsError: log-probabilities were asked for and are missing.
        ErrorReplyError: the reply says that the endpoint failed.
    """
    try:
        reply = _parsed(body)
        said, usage = _said(reply), _usage(reply.get("usage"))
    except (LookupError, TypeError, AttributeError) as error:
        raise ValueError(f"no reply of the API: {_shortly(reply, 200)}") from error
    except RecursionError as error:
        raise ValueError("a reply that is nested too deeply") from error
    # A lone half of a surrogate pair is valid JSON and fits into no file.
    text = said.text.encode(errors="replace").decode()
    if said.outcome not in ("answered", "cut_off"):
        return Completion(text=text, outcome=said.outcome, usage=usage)
    if question.kind == "choose":
        # A token that is no text belongs to a thought; some endpoints list nothing for those.
        listed = _listed(said.logprobs) if text or said.logprobs else {}
        return _chosen(text, usage, listed, question.labels)
    label = _held(text, question.form)
    if label in question.labels:
        return Completion(text=label, constrained=True, usage=usage)
    # Whatever the endpoint made of the form, this is text like any other: it is read by the usual rules, or not at all.
    return Completion(text=text, outcome=said.outcome, usage=usage)


def believed(completion: Completion, body: bytes, *, sent: int, written: int) -> tuple[Completion, str | None]:
    """A completion without counts of tokens that such a request cannot take, and the first odd count, for people.

    A token is one byte of text at least. What a model thinks and keeps to itself has its own count in the reply.

    Args:
        completion: as `read_reply` read it.
        body: of the reply.
        sent: bytes of the request.
        written: tokens that were asked for at most.
    """
    used = completion.usage
    if 0 < used.prompt_tokens <= sent and 0 < used.completion_tokens <= max(written, 1):
        return completion, None
    most = sent + TEMPLATE_TOKENS, max(len(body), written) + _hidden(body)
    counts = used.prompt_tokens, used.completion_tokens
    beyond = [f"{name}: {count:,}" for name, count, limit in zip(COUNTS, counts, most, strict=True) if count > limit]
    if not beyond:
        return completion, odd_counts(body)
    read, wrote = (count if count <= limit else 0 for count, limit in zip(counts, most, strict=True))
    bounded = replace(used, prompt_tokens=read, completion_tokens=wrote)
    return replace(completion, usage=bounded), beyond[0]


def _hidden(body: bytes) -> int:
    """Tokens of thoughts that a reply counts and does not show."""
    used = _parsed(body).get("usage")
    details = used.get("completion_tokens_details") if isinstance(used, Mapping) else None
    count = _count(details.get("reasoning_tokens")) if isinstance(details, Mapping) else None
    return min(count or 0, MOST_HIDDEN)


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
    by_label = [_sum(_spelt(listed, label)) for label in labels]
    if all(value is None for value in by_label):
        return None
    lowest = math.nextafter(min(listed.values()), -math.inf)
    return tuple(lowest if value is None else value for value in by_label)


def _spelt(listed: Mapping[str, float], label: str) -> list[float]:
    """The log-probabilities of the tokens that are a label, however it is spaced."""
    return [value for token, value in listed.items() if token.strip(LEADING) == label]


def _chosen(text: str, usage: Usage, listed: Mapping[str, float], labels: Sequence[str]) -> Completion:
    mass = math.fsum(math.exp(value) for label in labels for value in _spelt(listed, label))
    scores = loglikelihoods(listed, labels)
    return Completion(
        text=text if scores is None else labels[scores.index(max(scores))],
        option_loglikelihoods=scores,
        label_mass=min(mass, 1.0),
        usage=usage,
    )


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


def _said(reply: Any) -> Said:
    """What the first choice of a reply says, and what became of it.

    Raises:
        LookupError, TypeError, AttributeError: it is no reply of the API.
        ErrorReplyError: it tells of an error.
    """
    if (error := reply.get("error") or reply.get("errors")) or "error" in (reply.get("object"), reply.get("type")):
        raise ErrorReplyError(error or reply)
    choices = reply.get("choices")
    if not choices and {"choices", "promptFeedback", "prompt_filter_results"} & reply.keys():
        # Endpoints whose filter withholds a prompt or a reply have nothing to choose from.
        return Said("", "moderated")
    choice = choices[0]
    finish = str(choice.get("finish_reason") or "").casefold()
    ended: Ended = "answered" if finish else ""
    ended = next((outcome for outcome, known in FINISHES.items() if known.search(finish)), ended)
    if ended == "error" or choice.get("error"):
        raise ErrorReplyError(choice.get("error") or f"finish_reason: {finish}")
    message = choice.get("message")
    if not message and "text" in choice:
        message = {"content": choice["text"]}
    if not message and ended in ("", "answered"):
        if "message" not in choice:
            raise LookupError("message")
        return Said("", "moderated")
    return Said(*_outcome_of(message or {}, ended), choice.get("logprobs"))


def _outcome_of(message: Mapping[str, Any], ended: Ended) -> tuple[str, ReplyOutcome]:
    """The text of a message and what became of it, by how it ended; empty where the endpoint does not say."""
    held = _parts(message.get("content"))
    text = "".join(held.get("text", ()))
    refusal = "".join(held.get("refusal", ())) or message.get("refusal")
    if ended == "moderated":
        return text, ended
    if ended == "refused" or (refusal and not text):
        # What the model declines with is what it said.
        return text or str(refusal or ""), "refused"
    if text or ended == "cut_off":
        return text, "cut_off" if ended == "cut_off" else "answered"
    if ended == "tool_call" or "call" in held or any(map(message.get, CALLS)):
        return "", "tool_call"
    if not ended and ("thoughts" in held or any(map(message.get, THOUGHTS))):
        return "", "cut_off"
    return "", "malformed" if "other" in held else "answered"


def _parts(content: Any) -> dict[str, list[str]]:
    """What a content holds, by its kind: a text, or a list of parts that are text, thoughts, calls or a refusal."""
    held: dict[str, list[str]] = {}
    for part in content if isinstance(content, list) else [] if content is None else [content]:
        kind, value = ("text", part) if isinstance(part, str) else ("other", None)
        if isinstance(part, Mapping):
            kind = PARTS.get(part.get("type"), "other")
            value = part.get(kind)
        if kind in ("text", "refusal") and not isinstance(value, str):
            kind = "other"
        held.setdefault(kind, []).append(str(value))
    return held


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


def _shortly(value: Any, most: int = 40) -> str:
    return json.dumps(value, ensure_ascii=False)[:most]


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
