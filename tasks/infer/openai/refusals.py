"""Read refusals of a request parameter: which parameter it is, and which setting leaves it out.

Sources of the wordings: threads about OpenAI, Azure, vLLM, TGI, llama.cpp, Mistral, DeepSeek, xAI, Groq, Moonshot,
Gemini, Anthropic, Bedrock, LiteLLM and OpenRouter; tests/infer/test_words_of_refusals.py has them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal

from contrapose.tasks.core.chats import parse_chat
from contrapose.tasks.core.errors import ModelError
from contrapose.tasks.core.questions import TOO_LONG, Question
from contrapose.tasks.infer.asking.outcomes import Failure

Parameter = Literal["length", "temperature", "top_p", "stop", "logprobs", "form"]

NAMES: Mapping[Parameter, tuple[str, ...]] = {
    "length": (
        *("max_tokens", "max_completion_tokens", "max_output_tokens", "max_new_tokens", "max_tokens_to_sample"),
        *("maxtokens", "maxoutputtokens", "maxcompletiontokens", "n_predict"),
    ),
    "temperature": ("temperature",),
    "top_p": ("top_p", "topp"),
    "stop": ("stop", "stop_sequences", "stopsequences"),
    "logprobs": ("logprobs", "top_logprobs", "toplogprobs", "top_n_tokens", "response_logprobs", "responselogprobs"),
    "form": ("response_format", "responseformat", "json_schema", "structured_outputs", "guided_choice"),
}
"""What servers call the parameters that are sent, in small letters."""
LENGTH_FIELDS = ("max_tokens", "max_completion_tokens")
"""Each is the other's successor: new servers want the second, older ones know only the first."""
NO_PARAMETERS = ("model", "messages", "prompt")
"""What every request has."""
MAY_NAME = (400, 403, 404, 405, 406, 415, 422, 500, 501)
"""Statuses of such refusals; the others concern the key, the account, the pace or the connection."""
FEW_LISTED = 5
"""Log-probabilities that every server lists which lists some."""

CALLED = {name: parameter for parameter, names in NAMES.items() for name in names}
WORDS = ("temperature", "stop")
"""Names that are words of English, too: they count only where they stand as names do."""
NAME = re.compile(
    rf"(?<![\w-])({'|'.join(sorted(CALLED.keys() - set(WORDS), key=len, reverse=True))})(?![\w-])", re.IGNORECASE
)
WORD = re.compile(
    r"(?:['\"`\[(]|\bmodel:\s*|\bsupplied:[\w, ]*?"
    r"|\b(?:param(?:eter)?s?|arguments?|fields?|key|property|keyword|supports?|invalid)[:=\s]+(?:the\s+)?)"
    r"\b(temperature|stop)(?![\w-])"
    r"|\b(temperature|stop)(?:[=:]|\s+(?:is|must|does|should|cannot|and|or|parameter|argument|field)\b)",
    re.IGNORECASE,
)
UNSUPPORTED = re.compile(
    r"unsupported|n['’o]t\s+(?:\w+\s+){0,2}?(?:support|permit|allow|enabl|availabl|implement|recogni|accept)"
    r"|unavailable|unrecogni[sz]ed|unknown|unexpected|\bextra(?:neous|_forbidden)?\b|forbid|deprecated|no longer",
    re.IGNORECASE,
)
"""What refuses a parameter, whatever its value is."""
REFUSES = re.compile(
    rf"{UNSUPPORTED.pattern}|n['’o]t (?:a )?(?:valid|one of)|invalid|cannot|must\b|only\b|at (?:most|least)"
    r"|(?:greater|more|less|larger|smaller) than|too (?:large|small|high|low|long)|exceed|maximum|minimum|range",
    re.IGNORECASE,
)
BESIDES = re.compile(r"limit was reached|higher max_tokens|got -\d", re.IGNORECASE)
"""What names a parameter and refuses none: a model that was cut off while it thought, or a prompt that is too long."""
EVERYWHERE = re.compile(r"invalid_request\w*|invalid_argument", re.IGNORECASE)
"""What stands in refusals of all kinds."""
FIELD = re.compile(r"[\"']param[\"']\s*:\s*[\"']([^\"']+)[\"']")
PLACE = re.compile(r"[\"']loc[\"']\s*:\s*[\[(]\s*[\"']body[\"']\s*,\s*[\"']([^\"']+)[\"']")
NOWHERE = ("", "none", "null", "body", "request", "parameters")
SUCCESSOR = re.compile(r"\b(?:use|instead|try|mean)\W+(?:the\s+)?\W?(max_\w*tokens\w*)", re.IGNORECASE)
MOST_LISTED = re.compile(
    r"(?:more than|at most|up to|less than or equal to|<=|≤|maximum(?: of)?|max(?:imum)? allowed:?|between \d+ and"
    r"|\[\d+, ?)\s*(\d+)",
    re.IGNORECASE,
)

Change = tuple[str, Any]
"""A key of a configuration and its value."""
WITHOUT_LOGPROBS: Change = ("model_args.logprobs", False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterRefusal(Failure):
    """A refusal of a request because of one parameter."""

    parameter: Parameter
    """Which one."""
    called: str
    """Its name in the request."""
    said: str
    """The refusal, for people."""
    change: Change | None
    """The setting that leaves the parameter out; None if there is none."""
    remedy: str
    """What the user can set, in words."""

    def make_error(self, model: str, *, tried: bool = False) -> ModelError:
        """Return the refusal as an error in the configuration of a model."""
        besides = f", and refused the request with {self.remedy}, too" if tried else ""
        return ModelError(
            f"the endpoint refuses {self.called}{besides}: {self.said}",
            expected="an endpoint that accepts the request",
            remedy=f"Set {self.change[0]} to what it takes." if tried and self.change else f"Set {self.remedy}.",
            where=model,
        )


def find_refused_parameter(
    failure: Failure, error: object, question: Question, *, sent: Mapping[str, Any]
) -> ParameterRefusal | None:
    """Return the parameter that was refused, or None if the refusal names none that was sent."""
    if failure.status not in MAY_NAME or failure.message.startswith(TOO_LONG):
        return None
    own = {CALLED.get(name, "length"): name for name in sent if name not in NO_PARAMETERS}
    text = _clean(error, question, own.get("length", ""))
    parameter = next((parameter for parameter in _yield_named_parameters(text) if parameter in own), None)
    if parameter is None:
        return None
    if {"temperature", "top_p"} <= own.keys() and re.search(r"\bboth\b", text):
        # At a temperature of 0 it changes nothing, and at another one less.
        parameter = "top_p"
    change, remedy = _find_change_without(parameter, text, question, sent=sent, called=own[parameter])
    base = {field.name: getattr(failure, field.name) for field in fields(Failure)}
    base |= {"kind": f"refused {own[parameter]}", "then": "stop", "certain": False, "wait": None, "overload": False}
    base["message"] = f"the endpoint refuses {own[parameter]} ({failure.message}); set {remedy}"
    return ParameterRefusal(
        **base, parameter=parameter, called=own[parameter], said=failure.message, change=change, remedy=remedy
    )


def make_logprobs_refusal() -> ParameterRefusal:
    """Return the refusal for an endpoint that answers without the log-probabilities."""
    said, remedy = "it returned no log-probabilities", format_setting(WITHOUT_LOGPROBS)
    return ParameterRefusal(
        kind="no log-probabilities",
        message=f"the endpoint refuses logprobs ({said}); set {remedy}",
        then="stop",
        billed=True,
        parameter="logprobs",
        called="logprobs",
        said=said,
        change=WITHOUT_LOGPROBS,
        remedy=remedy,
    )


def _clean(error: object, question: Question, length_field: str) -> str:
    """Return an error without the prompt and common codes; a length field with another name gets the usual name."""
    text = error if isinstance(error, str) else json.dumps(error, ensure_ascii=False)
    chat = parse_chat(question.prompt)
    sent = [question.prompt] if chat is None else [message["content"] for message in chat.messages]
    for prompt in filter(None, sent):
        text = text.replace(json.dumps(prompt, ensure_ascii=False)[1:-1], "").replace(prompt, "")
    text = EVERYWHERE.sub("", text.replace('\\"', '"'))
    own = length_field and length_field not in CALLED
    return re.sub(rf"(?<![\w-]){re.escape(length_field)}(?![\w-])", LENGTH_FIELDS[0], text) if own else text


def _yield_named_parameters(text: str) -> Iterator[Parameter]:
    """Yield the names of parameters that a refusal is about."""
    exact = [place for place in (*FIELD.findall(text), *PLACE.findall(text)) if place.casefold() not in NOWHERE]
    if exact:
        # Whatever else is said, it is about these.
        known = (CALLED.get(re.split(r"[.\[]", place.casefold())[0]) for place in exact)
        yield from filter(None, known)
    elif REFUSES.search(text) and not BESIDES.search(text):
        matches = sorted((*NAME.finditer(text), *WORD.finditer(text)), key=lambda match: match.start())
        yield from (CALLED[next(filter(None, match.groups())).casefold()] for match in matches)


def _find_change_without(
    parameter: Parameter, text: str, question: Question, *, sent: Mapping[str, Any], called: str
) -> tuple[Change | None, str]:
    """Return the setting that leaves a parameter out, and a text about it."""
    if parameter == "form":
        return None, "model_args.constrained: off"
    change: Change | None
    if parameter == "length" and not UNSUPPORTED.search(text):
        # Its value is refused. A choice is a single token: where that is too short, replies are read.
        change = WITHOUT_LOGPROBS if question.kind == "choose" else None
    elif parameter == "length":
        named = (*SUCCESSOR.findall(text), *LENGTH_FIELDS)
        change = ("model_args.max_tokens_field", next(name for name in named if name != called))
    elif parameter == "logprobs":
        # As many as are listed; none where that is not known to be two or more, and fewer than asked.
        asked, most = int(sent.get("top_logprobs") or sent["logprobs"]), MOST_LISTED.search(text)
        listed = int(most[1]) if most and int(most[1]) < asked else FEW_LISTED
        limited = (most is not None or not UNSUPPORTED.search(text)) and 1 < listed < asked
        change = ("model_args.top_logprobs", listed) if limited else WITHOUT_LOGPROBS
    else:
        change = (f"gen_kwargs.{parameter}", [] if parameter == "stop" else None)
    return change, format_setting(change) if change else "gen_kwargs.max_new_tokens to a number that it takes"


def format_setting(change: Change) -> str:
    """Return a setting as text in the form of a configuration."""
    name, value = change
    return f"{name}: {value if isinstance(value, str) else json.dumps(value)}"
