"""What must hold for the public functions on any text."""

from __future__ import annotations

from itertools import pairwise

from contrapose.tasks.probes.negation import Negation
from contrapose.tasks.probes.order_bias import LetterChoice
from contrapose.tasks.probes.toxic_words import ToxicCount
from contrapose.tasks.text.masking import mask_toxic


def check_negation(result: Negation, text: str) -> None:
    """A new text or a reason; what was changed is short, and the rest is as it was."""
    assert (result.text is None) == (result.reason is not None)
    assert (result.text is None) == (result.confidence is None) == (result.kind is None)
    if result.text is None:
        assert result.original == text
        return
    assert result.text not in (text, result.original)


def check_count(count: ToxicCount, text: str) -> None:
    """The counts add up, and the matches are where they are said to be."""
    assert sum(count.by_tier.values()) == len(count.matches)
    assert count.total == len(count.matches) - count.by_tier["mild"]
    assert all(text[match.start : match.end] == match.text != "" for match in count.matches)
    assert all(one.end <= other.start for one, other in pairwise(count.matches))
    assert len(mask_toxic(text)) == len(text)


def check_choice(choice: LetterChoice) -> None:
    """A letter or nothing, and what decided."""
    assert choice.choice in ("A", "B", None)
    assert (choice.choice is None) == (choice.step == "unparsed")
    assert choice.reason
