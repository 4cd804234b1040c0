"""Refusals of request parameters in the words of many servers: which parameter is meant, and what does without it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from contrapose.tasks.core.questions import TOO_LONG, Question
from contrapose.tasks.infer.asking.outcomes import Failure
from contrapose.tasks.infer.openai.refusals import ParameterRefusal, find_refused_parameter, format_setting

REPLY = Question(kind="generate", prompt="What is a temperature of 'max_tokens'? It must not be supported.")
LETTER = Question(kind="choose", prompt="A or B?", labels=("A", "B"))
SENT: dict[str, Any] = {
    "model": "m",
    "messages": [],
    "max_tokens": 32,
    "temperature": 0.0,
    "top_p": 0.9,
    "stop": ["\n"],
    "response_format": {"type": "json_schema"},
}
CHOICE: dict[str, Any] = {"model": "m", "messages": [], "max_tokens": 1, "logprobs": True, "top_logprobs": 20}


def refusal(
    told: object, *, status: int = 400, question: Question = REPLY, sent: dict[str, Any] = SENT
) -> ParameterRefusal | None:
    failure = Failure(kind=f"status {status}", message=f"status {status}", then="give up", status=status)
    return find_refused_parameter(failure, told, question, sent=sent)


def setting(told: object, **named: Any) -> str | None:
    """The setting that does without what is refused; the name of the parameter where none does."""
    refused = refusal(told, **named)
    return refused and (format_setting(refused.change) if refused.change else refused.called)


NO_TEMPERATURE, NO_TOP_P, NO_STOP = "gen_kwargs.temperature: null", "gen_kwargs.top_p: null", "gen_kwargs.stop: []"
SUCCESSOR = "model_args.max_tokens_field: max_completion_tokens"
FORM = "response_format"


def said(message: object, **more: object) -> dict[str, object]:
    return {"message": message, "type": "invalid_request_error", "param": None, "code": None, **more}


def extra(name: str, **more: object) -> list[dict[str, object]]:
    return [{"type": "extra_forbidden", "loc": ["body", name], "msg": "Extra inputs are not permitted", **more}]


MESSAGES = {
    SUCCESSOR: """
Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.
""",
    NO_TEMPERATURE: """
Unsupported value: 'temperature' does not support 0.0 with this model. Only the default (1) value is supported.
Unrecognized request arguments supplied: frequencyPenalty, temperature, topP
The deployment doesn't support temperature request parameter.
deepseek-reasoner does not support the parameter `temperature`
invalid temperature: only 1 is allowed for this model
`temperature` is deprecated for this model.
temperature is not supported for claude-fable-5 when set to non-default values
litellm.UnsupportedParamsError: openai does not support parameters: ['temperature'], for model=o1.
litellm: azure does not support parameters: {'temperature': 1.0}, for model=gpt-5-mini.
gpt-5 models don't support temperature=0.0. Only temperature=1 is supported.
gpt-5 models don’t support temperature=0.0.
Input validation error: `temperature` must be strictly positive
""",
    NO_TOP_P: """
Unsupported parameter: 'top_p' is not supported with this model.
Unrecognized request arguments supplied: frequencyPenalty, topP
This server takes no top_p (parameter=top_p, value=0.9), it is unsupported
property 'top_p' is unsupported
`temperature` and `top_p` cannot both be specified for this model. Please use only one.
The model returned the following errors: top_p: Extra inputs are not permitted
Input validation error: `top_p` must be > 0.0 and < 1.0
""",
    NO_STOP: """
Unsupported parameter: 'stop' is not supported with this model.
Unrecognized request argument supplied: stop
Unsupported param: stop
generate() got an unexpected keyword argument 'stop'
Argument not supported on this model: stop
Malformed input request: extraneous key [stop_sequences] is not permitted, please reformat
This model doesn't support the stopSequences field. Remove stopSequences and try again.
litellm.BadRequestError: XaiException - {"error":"Argument not supported on this model: stop"}
""",
    FORM: """
Unsupported param: response_format
This response_format type is unavailable now
'response_format.type' : value is not one of the allowed values ['text','json_object']
""",
}
"""Of OpenAI, Azure, vLLM, TGI, llama.cpp, DeepSeek, xAI, Groq, Moonshot, Anthropic, Bedrock and LiteLLM."""
OBJECTS: list[tuple[object, str]] = [
    # OpenAI, vLLM and FastAPI, the last two also as Python that was written into a text
    (said("Not here.", param="max_tokens", code="unsupported_parameter"), SUCCESSOR),
    (said("temperature must be non-negative, got 0.", param="temperature"), NO_TEMPERATURE),
    ({"object": "error", "message": str(extra("stop")), "type": "BadRequestError"}, NO_STOP),
    ({"object": "error", "message": "[{'type': 'extra_forbidden', 'loc': ('body', 'max_tokens')}]"}, SUCCESSOR),
    # Mistral
    ({"object": "error", "message": {"detail": extra("max_tokens")}, "type": "invalid_request_error"}, SUCCESSOR),
    ({"detail": extra("stop", input=["\n"])}, NO_STOP),
    ({"message": json.dumps({"detail": extra("top_p")}), "type": "internal_error_proxy", "param": None}, NO_TOP_P),
    # TGI, xAI, Gemini and OpenRouter
    ({"error": "Input validation error: `temperature` must be strictly positive"}, NO_TEMPERATURE),
    ("Argument not supported on this model: stop", NO_STOP),
    ([{"error": {"code": 400, "message": 'Unknown name "stop": Cannot find field.', "status": "INVALID"}}], NO_STOP),
    ({"message": "Error", "metadata": {"raw": json.dumps({"error": said("No.", param="stop", code="x")})}}, NO_STOP),
]


@pytest.mark.parametrize(
    ("message", "expected"),
    [(message, expected) for expected, lines in MESSAGES.items() for message in lines.strip().splitlines()],
)
def test_a_refused_parameter_is_found_in_the_words_of_many_servers(message: str, expected: str) -> None:
    assert setting(said(message)) == expected


@pytest.mark.parametrize(("told", "expected"), OBJECTS)
def test_a_refused_parameter_is_found_wherever_a_server_names_it(told: object, expected: str) -> None:
    assert setting(told) == expected


@pytest.mark.parametrize("status", [400, 403, 404, 422, 500, 501])
def test_any_status_of_a_refusal_will_do(status: int) -> None:
    assert setting(said("Unsupported parameter: 'top_p'"), status=status) == NO_TOP_P


@pytest.mark.parametrize("status", [401, 402, 408, 429, 503])
def test_a_status_of_the_key_or_the_pace_names_no_parameter(status: int) -> None:
    assert setting(said("You requested too many max_tokens, only 5 are allowed"), status=status) is None


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (said("You are not allowed to request logprobs from this model"), "model_args.logprobs: false"),
        (said("This model does not support the 'logprobs' parameter.", param="logprobs"), "model_args.logprobs: false"),
        (said("Gaudi doesn't support logprobs. Please remove 'logprobs'/'top_logprobs'"), "model_args.logprobs: false"),
        (said("Logprobs is not enabled for models/gemini-2.5-pro"), "model_args.logprobs: false"),
        (said("5 is greater than the maximum of 1 - 'logprobs'", param="logprobs"), "model_args.logprobs: false"),
        (said("Cannot request more than 5 logprobs."), "model_args.top_logprobs: 5"),
        (
            said(
                "Requested sample logprobs of 20, which is greater than max allowed: 8 (parameter=logprobs, value=20)"
            ),
            "model_args.top_logprobs: 8",
        ),
        ("Input validation error: `top_n_tokens` must be >= 0 and <= 5. Given: 20", "model_args.top_logprobs: 5"),
        (said("Invalid top_logprobs and logprobs value"), "model_args.top_logprobs: 5"),
        (
            said("Invalid 'max_output_tokens': below minimum value. Expected >= 16, but got 1"),
            "model_args.logprobs: false",
        ),
        (said("Unsupported parameter: 'max_tokens'", param="max_tokens"), SUCCESSOR),
    ],
)
def test_a_choice_does_with_fewer_log_probabilities_or_with_none(told: object, expected: str) -> None:
    assert setting(told, question=LETTER, sent=CHOICE) == expected


def test_five_that_are_refused_again_are_none() -> None:
    told = said("Invalid top_logprobs and logprobs value")
    assert setting(told, question=LETTER, sent={**CHOICE, "top_logprobs": 5}) == "model_args.logprobs: false"
    assert setting(told, question=LETTER, sent={"max_tokens": 1, "logprobs": 20}) == "model_args.top_logprobs: 5"


@pytest.mark.parametrize(
    "message",
    [
        "max_tokens is too large: 32768. This model supports at most 16384 completion tokens.",
        "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]",
        "max_tokens: 128000 > 64000, which is the maximum allowed number of output tokens for claude-3-7-sonnet",
    ],
)
def test_a_length_that_is_too_great_has_no_other_name(message: str) -> None:
    refused = refusal(said(message))
    assert (refused.change, refused.called) == (None, "max_tokens")
    assert "set gen_kwargs.max_new_tokens" in refused.message


def test_the_older_name_is_the_successor_of_the_newer_one() -> None:
    sent = {"model": "m", "prompt": "", "max_completion_tokens": 8}
    told = {"detail": extra("max_completion_tokens")}
    assert setting(told, sent=sent) == "model_args.max_tokens_field: max_tokens"


def test_a_field_of_ones_own_is_known_by_its_name() -> None:
    sent = {"model": "m", "messages": [], "longest": 8}
    told = said("Unrecognized request argument supplied: longest. Did you mean `max_output_tokens`?")
    assert setting(told, sent=sent) == "model_args.max_tokens_field: max_output_tokens"


@pytest.mark.parametrize(
    "told",
    [
        None,
        "",
        said("Unrecognized request argument"),
        said("No endpoints found that can handle the requested parameters"),
        said("Unsupported value: 'messages[0].role' does not support 'system'. stop", param="messages[0].role"),
        {"detail": [{"type": "extra_forbidden", "loc": ["body", "messages", 3, "stop"], "msg": "not permitted"}]},
        said(
            "Could not finish the message because max_tokens or model output limit was reached. Try higher max_tokens"
        ),
        said("max_tokens must be at least 1, got -186."),
        said(f"This prompt is not allowed: {REPLY.prompt}"),
        said("The model `temperature-7b` does not exist"),
        said("You must not ask about the temperature of stars, nor stop there"),
        said("Unsupported parameter: 'seed' is not supported", param="seed"),
        said("JSON is invalid: stopped at 7"),
        said("The request is invalid: it must not be about temperature"),
    ],
)
def test_other_refusals_name_no_parameter(told: object) -> None:
    assert setting(told) is None


def test_a_prompt_that_is_too_long_is_no_refused_length() -> None:
    failure = Failure(kind="status 400", message=f"{TOO_LONG}; max_tokens", then="give up", status=400)
    assert find_refused_parameter(failure, said("max_tokens is too large"), REPLY, sent=SENT) is None


def test_what_is_refused_says_what_to_set() -> None:
    refused = refusal(said("Unsupported value: 'temperature'", param="temperature"), status=422)
    assert (refused.then, refused.certain, refused.status) == ("stop", False, 422)
    assert refused.message == "the endpoint refuses temperature (status 422); set gen_kwargs.temperature: null"
