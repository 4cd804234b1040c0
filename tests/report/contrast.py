"""How well a colour is seen."""

from __future__ import annotations


def contrast_with_white(colour: str) -> float:
    """By the definition of WCAG."""
    shares = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    light = [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]
    return 1.05 / (0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2] + 0.05)
