"""The slowest and the dearest calls as tables."""

from __future__ import annotations

from dataclasses import dataclass

from contrapose.tasks.outcome import Call, Calls
from contrapose.tasks.report.inline import elided
from contrapose.tasks.report.masking import Show
from contrapose.tasks.report.wording import dollars, span


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One call."""

    prompt: str
    """Its beginning and its end."""
    took: str
    read: str
    """Tokens of the prompt."""
    written: str
    """Tokens of the reply."""
    cost: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Asks:
    """Calls of one kind, the greatest first."""

    title: str
    calls: tuple[Ask, ...]


def asks(calls: Calls, show: Show) -> tuple[Asks, ...]:
    """A table for each kind of which there are any."""
    # Where nothing has a price, they are those with the most tokens.
    dearest = "Dearest calls" if any(call["cost"] for call in calls.dearest) else "Longest calls"
    kinds = (("Slowest calls", calls.slowest), (dearest, calls.dearest))
    return tuple(Asks(title=title, calls=tuple(_ask(call, show) for call in found)) for title, found in kinds if found)


def _ask(call: Call, show: Show) -> Ask:
    return Ask(
        prompt=elided(show(call["prompt"]), head=160, tail=80),
        took=span(call["seconds"]) if call["seconds"] >= 1 else f"{1000 * call['seconds']:,.0f} ms",
        read=f"{call['prompt_tokens']:,}",
        written=f"{call['completion_tokens']:,}",
        cost="–" if call["cost"] is None else dollars(call["cost"]),
    )
