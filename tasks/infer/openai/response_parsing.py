"""Parse HTTP responses of an OpenAI API into completions: text, outcome, log-probabilities, token counts."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from contrapose.tasks.core.chats import parse_chat
from contrapose.tasks.core.questions import Form, Question
from contrapose.tasks.core.records import Completion, Usage
from contrapose.tasks.core.reply_outcomes import ReplyOutcome
from contrapose.tasks.core.tool_calls import ToolCall, join_reply, read_calls

LEADING = " \n\t▁Ġ"
"""Marks that tokenizers put before a word."""

COUNTS = ("prompt_tokens", "completion_tokens")
"""Names of the counts of tokens that were read and written."""
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
"""Kinds of the parts of a content, by their type; any other part holds nothing that is read."""
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
"""Finish reasons of OpenAI, Azure, Gemini, Anthropic, Mistral, DeepSeek, OpenRouter and vLLM."""


class NoLogprobsError(Exception):
    """Raised if the endpoint answered without the log-probabilities."""


class ErrorReplyError(Exception):
    """Raised if a reply of status 200 says that the endpoint failed; its argument is the error body."""


def read_reply(body: bytes, question: Question) -> Completion:
    """Return the completion in a reply of the chat API or the older completions API.

    A choice without text is an answer without text: a reasoning model that is cut off while it thinks gives no other,
    however often it is asked and paid.
    """
    try:
        reply = _parse(body)
        text, outcome, logprobs = _read_choice(reply)
        used = reply.get("usage")
        counts = {name: _parse_count(used.get(name)) or 0 for name in COUNTS} if isinstance(used, Mapping) else {}
        usage = Usage(calls=1, **counts)
    except (LookupError, TypeError, AttributeError) as error:
        raise ValueError(f"no reply of the API: {_shorten(reply, 200)}") from error
    except RecursionError as error:
        raise ValueError("a reply that is nested too deeply") from error
    if outcome in ("answered", "tool_call") and (calls := _read_offered_calls(reply, question)):
        text, outcome = join_reply(text, calls), "answered"
    # A lone half of a surrogate pair is valid JSON and fits into no file.
    text = text.encode(errors="replace").decode()
    if outcome not in ("answered", "cut_off"):
        return Completion(text=text, outcome=outcome, usage=usage)
    if question.kind == "choose":
        # A token that is no text belongs to a thought; some endpoints list nothing for those.
        listed = _read_listed_logprobs(logprobs) if text or logprobs else {}
        return _make_choice(text, usage, listed, question.labels)
    label = _read_label_in_form(text, question.form)
    if label in question.labels:
        return Completion(text=label, constrained=True, usage=usage)
    # Whatever the endpoint made of the form, this is text like any other: it is read by the usual rules, or not at all.
    return Completion(text=text, outcome=outcome, usage=usage)


def _read_offered_calls(reply: Mapping[str, Any], question: Question) -> list[ToolCall]:
    """Return the tool calls of a reply, if its prompt offers tools."""
    chat = parse_chat(question.prompt)
    return read_calls(reply["choices"][0].get("message")) if chat and chat.tools and reply.get("choices") else []


def correct_counts(completion: Completion, body: bytes, *, sent: int, written: int) -> tuple[Completion, str | None]:
    """Return a completion without impossible token counts, and the first impossible count.

    A token is one byte of text at least. Hidden thoughts of a model have their own count in the reply.
    """
    used = completion.usage
    if 0 < used.prompt_tokens <= sent and 0 < used.completion_tokens <= max(written, 1):
        return completion, None
    said = _parse(body).get("usage")
    if not isinstance(said, Mapping):
        return completion, None if said is None else f"usage: {_shorten(said)}"
    details = said.get("completion_tokens_details")
    hidden = _parse_count(details.get("reasoning_tokens")) if isinstance(details, Mapping) else None
    limits = sent + TEMPLATE_TOKENS, max(len(body), written) + min(hidden or 0, MOST_HIDDEN)
    odd, counts = list[str](), dict[str, int]()
    for name, limit in zip(COUNTS, limits, strict=True):
        count = _parse_count(said.get(name))
        counts[name] = count if count is not None and count <= limit else 0
        if said.get(name) is not None and counts[name] != count:
            odd.append(f"{name}: {_shorten(said[name]) if count is None else format(count, ',')}")
    return replace(completion, usage=replace(used, **counts)), odd[0] if odd else None


def parse_model_list(body: bytes) -> list[str]:
    """Return the names of the models in a list of either layout; none if it is not such a list."""
    try:
        reply = _parse(body)
        listed = reply.get("data") if isinstance(reply, Mapping) else reply
        return [str(model["id"]) for model in listed or ()]
    except (ValueError, LookupError, TypeError, RecursionError):
        return []


def is_json_reply(text: str) -> bool:
    """Return whether a reply looks like the JSON that the form asks for, and no prompt does."""
    return text.lstrip().startswith(("{", "```")) or f'"{SCHEMA_FIELD}"' in text


def _make_choice(text: str, usage: Usage, listed: Mapping[str, float], labels: Sequence[str]) -> Completion:
    """Return the choice among labels, with the log-probability of each in nats, if at least one is listed.

    The spellings of a label (with and without a leading space) are added up. A label that is not listed is less
    likely than every listed token: it gets the next number below the lowest of theirs, which is an upper bound.
    """
    spelt = [[value for token, value in listed.items() if token.strip(LEADING) == label] for label in labels]
    scores = None
    if any(spelt):
        lowest = math.nextafter(min(listed.values()), -math.inf)
        scores = tuple(_add_logs(values) if values else lowest for values in spelt)
    return Completion(
        text=text if scores is None else labels[scores.index(max(scores))],
        option_loglikelihoods=scores,
        label_mass=min(math.fsum(math.exp(value) for values in spelt for value in values), 1.0),
        usage=usage,
    )


def _add_logs(values: Sequence[float]) -> float:
    top = max(values)
    # Spellings of an endpoint that overstates them are together no likelier than certain.
    return min(ROUND_OFF, top + math.log(sum(math.exp(value - top) for value in values)))


def _read_label_in_form(text: str, form: Form) -> str | None:
    """Return the label in a reply of this form, or None if the reply is anything else. It never guesses."""
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


def _read_choice(reply: Any) -> tuple[str, ReplyOutcome, Any]:
    """Return text, outcome and listed log-probabilities of the first choice of a reply."""
    if (error := reply.get("error") or reply.get("errors")) or "error" in (reply.get("object"), reply.get("type")):
        raise ErrorReplyError(error or reply)
    choices = reply.get("choices")
    if not choices and {"choices", "promptFeedback", "prompt_filter_results"} & reply.keys():
        # Endpoints whose filter withholds a prompt or a reply have nothing to choose from.
        return "", "moderated", None
    choice = choices[0]
    finish = str(choice.get("finish_reason") or "").casefold()
    ended: ReplyOutcome | None = "answered" if finish else None
    ended = next((outcome for outcome, known in FINISHES.items() if known.search(finish)), ended)
    if ended == "error" or choice.get("error"):
        raise ErrorReplyError(choice.get("error") or f"finish_reason: {finish}")
    message = choice.get("message")
    if not message and "text" in choice:
        message = {"content": choice["text"]}
    if not message and ended in (None, "answered"):
        if "message" not in choice:
            raise LookupError("message")
        return "", "moderated", None
    return *_read_message(message or {}, ended), choice.get("logprobs")


def _read_message(message: Mapping[str, Any], ended: ReplyOutcome | None) -> tuple[str, ReplyOutcome]:
    """Return text and outcome of a message; `ended`: how it ended, or None if the endpoint does not say."""
    # A content is a text, or a list of parts that are text, thoughts, calls or a refusal.
    content, parts = message.get("content"), dict[str, list[str]]()
    for part in content if isinstance(content, list) else [] if content is None else [content]:
        kind, value = ("text", part) if isinstance(part, str) else ("other", None)
        if isinstance(part, Mapping):
            kind = PARTS.get(part.get("type"), "other")
            value = part.get(kind)
        if kind in ("text", "refusal") and not isinstance(value, str):
            kind = "other"
        parts.setdefault(kind, []).append(str(value))
    text = "".join(parts.get("text", ()))
    refusal = "".join(parts.get("refusal", ())) or message.get("refusal")
    if ended == "moderated":
        return text, ended
    if ended == "refused" or (refusal and not text):
        # The words with which the model declines are its text.
        return text or str(refusal or ""), "refused"
    if text or ended == "cut_off":
        return text, "cut_off" if ended == "cut_off" else "answered"
    if ended == "tool_call" or "call" in parts or any(map(message.get, CALLS)):
        return "", "tool_call"
    if ended is None and ("thoughts" in parts or any(map(message.get, THOUGHTS))):
        return "", "cut_off"
    return "", "malformed" if "other" in parts else "answered"


def _parse_count(value: Any) -> int | None:
    """Return a number of tokens, or None if the value is not a whole number that a reply can have."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if 0 <= value <= MOST_TOKENS and value == int(value) else None


def _parse(body: bytes) -> Any:
    """Return the JSON of an endpoint; a whole number of thousands of digits becomes a float."""
    return json.loads(body, parse_int=lambda digits: int(digits) if len(digits) <= LONGEST_NUMBER else float(digits))


def _shorten(value: Any, most: int = 40) -> str:
    return json.dumps(value, ensure_ascii=False)[:most]


def _read_listed_logprobs(logprobs: Any) -> dict[str, float]:
    """Return the likeliest first tokens and their log-probabilities, as the chat API or the older one lists them."""
    try:
        if "content" in logprobs:
            first = logprobs["content"][0]
            # The token itself, where it was drawn from below the list, would lower the bound.
            pairs = [(entry["token"], entry["logprob"]) for entry in first["top_logprobs"] or [first]]
        else:
            pairs = list(logprobs["top_logprobs"][0].items())
    except (LookupError, TypeError, AttributeError) as error:
        raise NoLogprobsError("no log-probabilities in the reply") from error
    # A log-probability is a finite number up to 0, but for rounding.
    listed = {
        token: float(value)
        for token, value in pairs
        if isinstance(token, str)
        and isinstance(value, int | float)
        and not isinstance(value, bool)
        and -math.inf < value <= ROUND_OFF
    }
    if not listed:
        raise NoLogprobsError("no log-probabilities in the reply")
    return listed
