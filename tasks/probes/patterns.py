"""What a model mostly does with pairs of orders, in words."""

from __future__ import annotations

from collections.abc import Mapping


def pattern(counts: Mapping[str, int], sentences: Mapping[str, str], *, without_choice: int) -> str:
    """The commonest outcome as a sentence, such as `Always answers A in both orders: …`.

    Args:
        counts: pairs of orders with a choice in both, by outcome.
        sentences: what a model does that has this outcome, for each of them.
        without_choice: pairs that lack a choice in one order or both.
    """
    decided = sum(counts.values())
    pairs = decided + without_choice
    if without_choice > decided:
        return f"Most pairs lack a choice in one order or both ({without_choice:,} of {pairs:,})."
    commonest = max(sentences, key=lambda name: counts[name])
    told = _mostly(counts[commonest] / decided, sentences[commonest])
    if not without_choice:
        return told
    return f"Among the {decided:,} of {pairs:,} pairs with a choice each time, {told[0].lower()}{told[1:]}"


def _mostly(share: float, sentence: str) -> str:
    """What is done in at least half of the pairs."""
    if share < 0.5:
        return "No single pattern: content and position both show."
    return f"{'Always' if share == 1 else 'Nearly always' if share >= 0.9 else 'Mostly'} {sentence}"
