"""Shares as percentages that can be told from each other."""

from __future__ import annotations


def apart(*shares: float) -> tuple[str, ...]:
    """Percentages with as few decimals, from 1 to 6, as tell all of them apart that 6 tell apart.

    Otherwise a sentence that sets one share against another, such as a bound against its gate, reads as if they were
    equal: 54.4% and 54.4%, where 54.36% and 54.40% were compared.
    """
    told = [tuple(f"{share:.{decimals}%}" for share in shares) for decimals in range(1, 7)]
    return next(texts for texts in told if len(set(texts)) == len(set(told[-1])))
