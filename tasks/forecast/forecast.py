"""Forecast tokens, time and cost of a run, based on earlier answers of the model if there are any."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.config.prices import FREE, Price
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core.records import Usage
from contrapose.tasks.core.registry import provider
from contrapose.tasks.forecast.counting import CallCount
from contrapose.tasks.store import Store

ENOUGH = 20
"""Answers from which a mean is taken; fewer say too little."""

MOST = 1000
"""Answers that are looked at, of the latest runs."""

RUNS_LOOKED_AT = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class PastReply:
    """One earlier answer."""

    kind: str
    """Of the question: generate, choose or loss."""
    characters: int
    """Of what the model was given to read, without system instruction and chat template."""
    read: int
    """Tokens that it read."""
    written: int
    """Tokens that it wrote."""
    seconds: float
    """Wall time of the request; of a local model, its share of the batch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PastAnswers:
    """Earlier answers of one model. A mean is None if there are fewer than `ENOUGH`."""

    answers: Sequence[PastReply] = ()
    """In any order."""

    @property
    def characters_per_token(self) -> float | None:
        """Return the ratio of prompts; system instruction and chat template raise the tokens, as they will again."""
        read = sum(answer.read for answer in self.answers)
        characters = sum(answer.characters for answer in self.answers)
        return characters / read if len(self.answers) >= ENOUGH and read else None

    @property
    def replies(self) -> list[PastReply]:
        """Return the answers that are texts."""
        return [answer for answer in self.answers if answer.kind == "generate"]

    @property
    def reply_tokens(self) -> float | None:
        """Return the mean tokens of a reply."""
        replies = self.replies
        return sum(reply.written for reply in replies) / len(replies) if len(replies) >= ENOUGH else None

    @property
    def seconds_per_call(self) -> float | None:
        """Return the mean latency in seconds; answers of a batch have none."""
        seconds = [answer.seconds for answer in self.answers if answer.seconds]
        return sum(seconds) / len(seconds) if len(seconds) >= ENOUGH else None

    @property
    def tokens_per_second(self) -> float | None:
        """Return the tokens that a local model reads and writes per second."""
        seconds = sum(answer.seconds for answer in self.answers)
        tokens = sum(answer.read + answer.written for answer in self.answers)
        return tokens / seconds if len(self.answers) >= ENOUGH and seconds else None


def read_past_answers(config: RunConfig) -> PastAnswers:
    """Read the latest stored answers from runs that asked the same model with the same settings."""
    store = Store()
    pasts: list[PastReply] = []
    for run, stored in store.runs.latest(RUNS_LOOKED_AT):
        try:
            if _select_settings(json.loads(stored)) != _select_settings(config.model_dump(mode="json")):
                continue
        except (ValueError, AttributeError):
            continue
        for text, read, written, seconds in store.answers.asked_by(run, model=config.model, most=MOST - len(pasts)):
            question = json.loads(text)
            size = len(question["prompt"]) + len(question.get("text", ""))
            pasts.append(PastReply(kind=question["kind"], characters=size, read=read, written=written, seconds=seconds))
        if len(pasts) == MOST:
            break
    return PastAnswers(answers=tuple(pasts))


def _select_settings(values: Mapping[str, Any]) -> tuple[object, ...]:
    """Return the settings on which tokens and time depend."""
    args = values.get("model_args") or {}
    return (
        values.get("model"),
        *(args.get(name) for name in ("base_url", "endpoint", "dtype", "device")),
        values.get("system_instruction"),
        values.get("few_shot") or None,
        values.get("gen_kwargs"),
        values.get("apply_chat_template"),
    )


CHARACTERS_PER_TOKEN = 4.0
"""Of English text, where nothing was measured."""

UNKNOWN = "nothing was measured yet; a first run measures it"


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A forecast number and the reason for it."""

    value: float | None
    """None where it is not known."""
    because: str
    """For people: one short line."""
    most: float | None = None
    """Its upper bound, where there is one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """The expected tokens, time and cost of some questions."""

    prompt_tokens: Figure
    """Tokens to read."""
    completion_tokens: Figure
    """Tokens to write; `most` if every reply is as long as it may be."""
    seconds: Figure
    """Wall time of asking, without opening the model."""
    cost: Figure
    """US dollars; `most` with the longest replies."""


def forecast(count: CallCount, spec: ModelSpec, *, past: PastAnswers, price: Price | None) -> Forecast:
    """Return the tokens, time and cost of some questions, by earlier answers of the same model."""
    limit = spec.generation.max_new_tokens
    longest = count.replies * limit + count.choices
    if measured := past.characters_per_token:
        because = f"{measured:.1f} characters a token, {_say_measured(past.answers)}"
        read = Figure(value=round(count.characters / measured), because=because)
    else:
        characters = count.characters + count.calls * sum(len(message["content"]) for message in spec.messages(""))
        because = f"{CHARACTERS_PER_TOKEN:g} characters a token, a rule of thumb for English"
        read = Figure(value=round(characters / CHARACTERS_PER_TOKEN), because=because)
    if not count.replies:
        because = "one token a choice" if longest else "no reply is written"
        written = Figure(value=longest, most=longest, because=because)
    elif (mean := past.reply_tokens) is None:
        because = f"{limit} tokens a reply, the limit max_new_tokens: an upper bound"
        written = Figure(value=longest, most=longest, because=because)
    else:
        size = min(mean, limit)
        because = f"{size:.1f} tokens a reply, {_say_measured(past.replies)}; at most {limit} (max_new_tokens)"
        written = Figure(value=round(count.replies * size) + count.choices, most=longest, because=because)
    return Forecast(
        prompt_tokens=read,
        completion_tokens=written,
        seconds=_forecast_seconds(count, spec, past, tokens=(read.value or 0) + (written.value or 0)),
        cost=_forecast_cost(count, read, written, price),
    )


def _forecast_seconds(count: CallCount, spec: ModelSpec, past: PastAnswers, *, tokens: float) -> Figure:
    """Return the time of a local model by its speed; of a remote one by its latency or limits, if these are slower."""
    if not count.calls:
        return Figure(value=0.0, because="nothing is left to ask")
    if provider(spec.known_provider).local:
        if past.tokens_per_second is None:
            return Figure(value=None, because=UNKNOWN)
        speed = f"{past.tokens_per_second:,.0f} tokens a second, {_say_measured(past.answers)}"
        return Figure(value=tokens / past.tokens_per_second, because=f"{speed}; without loading the model")
    amounts = {"requests_per_minute": count.calls, "tokens_per_minute": tokens}
    rates = {name: rate for name in amounts if (rate := _parse(spec, name))}
    held = max((60 * amounts[name] / rate for name, rate in rates.items()), default=0.0)
    if past.seconds_per_call is None:
        return Figure(value=held or None, because=f"at least, by {' and '.join(rates)}" if held else UNKNOWN)
    at_once = min(max(int(_parse(spec, "concurrency") or provider(spec.known_provider).concurrency), 1), count.calls)
    free = count.calls * past.seconds_per_call / at_once
    if held > free:
        return Figure(value=held, because=f"as fast as {' and '.join(rates)} allow")
    because = f"{past.seconds_per_call:.2f} s a request, {_say_measured(past.answers)}; {at_once} at once"
    return Figure(value=free, because=because)


def _parse(spec: ModelSpec, name: str) -> float | None:
    """Return a positive number among the arguments; the provider refuses any other."""
    try:
        return max(float(spec.args[name]), 0.0) or None
    except (KeyError, TypeError, ValueError):
        return None


def _forecast_cost(count: CallCount, read: Figure, written: Figure, price: Price | None) -> Figure:
    if price is None:
        return Figure(value=None, because="what the model costs is not known; set price to {input: ..., output: ...}")
    if price == FREE:
        return Figure(value=0.0, most=0.0, because="the model runs on this machine")
    day = f"as of {price.as_of}" if price.as_of else "as you set"
    because = f"${price.input:g} and ${price.output:g} per million tokens in and out, {day}"
    value, most = (
        price.of(Usage(calls=count.calls, prompt_tokens=int(read.value or 0), completion_tokens=int(tokens or 0)))
        for tokens in (written.value, written.most)
    )
    return Figure(value=value, most=most, because=because)


def _say_measured(answers: Sequence[PastReply]) -> str:
    return f"measured on {len(answers):,} earlier answers"
