"""Tokens, time and cost of what a run would ask, each with what it rests on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.config.prices import FREE, Price
from contrapose.tasks.core.records import Usage
from contrapose.tasks.core.registry import provider
from contrapose.tasks.forecast.counting import Count
from contrapose.tasks.forecast.experience import Experience, Past

CHARACTERS_PER_TOKEN = 4.0
"""Of English text, where nothing was measured."""

UNKNOWN = "nothing was measured yet; a first run tells"


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A figure and what it rests on."""

    value: float | None
    """None where it is not known."""
    because: str
    """For people: one short line."""
    most: float | None = None
    """Its upper bound, where there is one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """What asking takes, as far as can be told beforehand."""

    prompt_tokens: Figure
    """Tokens to read."""
    completion_tokens: Figure
    """Tokens to write; `most` if every reply is as long as it may be."""
    seconds: Figure
    """Wall time of asking, without opening the model."""
    cost: Figure
    """US dollars; `most` with the longest replies."""


def forecast(count: Count, spec: ModelSpec, *, past: Experience, price: Price | None) -> Forecast:
    """What some questions take.

    Args:
        count: what is to be asked.
        spec: the model and its settings.
        past: earlier answers of the same model.
        price: what its tokens cost; None where it is unknown.
    """
    read = _read(count, spec, past)
    written = _written(count, spec, past)
    return Forecast(
        prompt_tokens=read,
        completion_tokens=written,
        seconds=_seconds(count, spec, past, tokens=(read.value or 0) + (written.value or 0)),
        cost=_cost(count, read, written, price),
    )


def _read(count: Count, spec: ModelSpec, past: Experience) -> Figure:
    if measured := past.characters_per_token:
        because = f"{measured:.1f} characters a token, {_measured(past.answers)}"
        return Figure(value=round(count.characters / measured), because=because)
    before = sum(len(message["content"]) for message in spec.messages(""))
    characters = count.characters + count.calls * before
    because = f"{CHARACTERS_PER_TOKEN:g} characters a token, a rule of thumb for English"
    return Figure(value=round(characters / CHARACTERS_PER_TOKEN), because=because)


def _written(count: Count, spec: ModelSpec, past: Experience) -> Figure:
    limit = spec.generation.max_new_tokens
    longest = count.replies * limit + count.choices
    if not count.replies:
        return Figure(value=longest, most=longest, because="one token a choice" if longest else "no reply is written")
    if (mean := past.reply_tokens) is None:
        because = f"{limit} tokens a reply, the limit max_new_tokens: an upper bound"
        return Figure(value=longest, most=longest, because=because)
    because = f"{min(mean, limit):.1f} tokens a reply, {_measured(past.replies)}; at most {limit} (max_new_tokens)"
    return Figure(value=round(count.replies * min(mean, limit)) + count.choices, most=longest, because=because)


def _seconds(count: Count, spec: ModelSpec, past: Experience, *, tokens: float) -> Figure:
    if not count.calls:
        return Figure(value=0.0, because="nothing is left to ask")
    if not provider(spec.known_provider).local:
        return _seconds_remote(count, spec, past, tokens=tokens)
    if past.tokens_per_second is None:
        return Figure(value=None, because=UNKNOWN)
    because = f"{past.tokens_per_second:,.0f} tokens a second, {_measured(past.answers)}; without loading the model"
    return Figure(value=tokens / past.tokens_per_second, because=because)


def _seconds_remote(count: Count, spec: ModelSpec, past: Experience, *, tokens: float) -> Figure:
    """Latency shared by the requests under way, or what the limits of a minute allow, whichever is slower."""
    amounts = {"requests_per_minute": count.calls, "tokens_per_minute": tokens}
    rates = {name: rate for name in amounts if (rate := _number(spec, name))}
    held = max((60 * amounts[name] / rate for name, rate in rates.items()), default=0.0)
    if past.seconds_per_call is None:
        return Figure(value=held or None, because=f"at least, by {' and '.join(rates)}" if held else UNKNOWN)
    at_once = min(max(int(_number(spec, "concurrency") or provider(spec.known_provider).concurrency), 1), count.calls)
    free = count.calls * past.seconds_per_call / at_once
    if held > free:
        return Figure(value=held, because=f"as fast as {' and '.join(rates)} allow")
    because = f"{past.seconds_per_call:.2f} s a request, {_measured(past.answers)}; {at_once} at once"
    return Figure(value=free, because=because)


def _number(spec: ModelSpec, name: str) -> float | None:
    """A positive number among the arguments; what is none is the provider's to refuse."""
    try:
        return max(float(spec.args[name]), 0.0) or None
    except (KeyError, TypeError, ValueError):
        return None


def _cost(count: Count, read: Figure, written: Figure, price: Price | None) -> Figure:
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


def _measured(answers: Sequence[Past]) -> str:
    return f"measured on {len(answers):,} earlier answers"
