"""Which option a completion chose, by log-likelihoods or by what its reply says."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from contrapose.tasks.records import Completion

_LEAD = r"(?:(?:the\s+)?(?:correct\s+|best\s+|right\s+|final\s+)?(?:answer|option|choice)(?:\s+is)?\s*:?\s*)"
_STATED = re.compile(rf"\b{_LEAD}[(\[*\"']*([A-Za-z])(?=[)\].,:;*\"'\s]|$)(?!\s+(?:or|and)\b)", re.IGNORECASE)
_LABELLED = re.compile(r"^[\s*(\[\"']*([A-Z])[*\"')\]]*(?:[.):]|\s*$)", re.MULTILINE)
_LONE = re.compile(r"\W*([A-Za-z])\W*")
_EDGES = re.compile(r"^[\W_]+|[\W_]+$")


@dataclass(frozen=True, slots=True)
class Choice:
    """The option that was chosen, and how likely each was."""

    index: int
    """Position among the labels."""
    shares: tuple[float, ...]
    """Probability of each label; they add up to 1."""


def read_choice(completion: Completion, *, labels: Sequence[str], options: Sequence[str]) -> Choice | None:
    """The choice by log-likelihoods when there are any, else by what the reply says; None when unreadable."""
    if completion.option_loglikelihoods is not None:
        return _by_likelihood(completion.option_loglikelihoods)
    index = read_option(completion.text or "", labels=labels, options=options)
    if index is None:
        return None
    return Choice(index, tuple(float(i == index) for i in range(len(labels))))


def read_option(reply: str, *, labels: Sequence[str], options: Sequence[str]) -> int | None:
    """Position of the option that a reply names by letter or restates; None for none or several."""
    lone = _LONE.fullmatch(reply)
    if lone is not None:
        return _position(lone[1].upper(), labels)
    restated = _restated(reply, options)
    if restated is not None:
        return restated
    stated = {found.upper() for found in _STATED.findall(reply) if found != "a"}
    named = stated or set(_LABELLED.findall(reply))
    return _position(named.pop(), labels) if len(named) == 1 else None


def _by_likelihood(values: Sequence[float]) -> Choice | None:
    top = max(values, default=math.nan)
    if not math.isfinite(top) or any(math.isnan(value) for value in values):
        return None
    weights = [math.exp(value - top) for value in values]
    total = math.fsum(weights)
    return Choice(list(values).index(top), tuple(weight / total for weight in weights))


def _position(letter: str, labels: Sequence[str]) -> int | None:
    return list(labels).index(letter) if letter in labels else None


def _restated(reply: str, options: Sequence[str]) -> int | None:
    body = re.sub(rf"^\W*{_LEAD}", "", reply, flags=re.IGNORECASE)
    first_line = reply.strip().partition("\n")[0]
    texts = {_plain(reply), _plain(body), _plain(first_line)} - {""}
    found = [i for i, option in enumerate(options) if _plain(option) in texts]
    return found[0] if len(found) == 1 else None


def _plain(text: str) -> str:
    return " ".join(_EDGES.sub("", text.casefold()).split())
