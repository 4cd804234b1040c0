"""Records about retrieved passages, which are a part of summary.json."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

Alike = Literal["same", "reordered", "other"]
"""The same passages in the same order, the same in another order, or others."""


class PassageGroup(TypedDict):
    """Counts of cases whose two replies had the same, or different, passages."""

    passages: Alike
    """The same passages in the same order, the same in another order, or others."""
    cases: int
    """How many these are."""
    hits: int
    """Those among them that changed, or failed."""
    rate: float
    """`hits / cases`."""
    interval: tuple[float, float]
    """95 % of the rate, Wilson's."""
    share: float | None
    """These hits among all hits; None if there are none."""
    share_interval: tuple[float, float] | None
    """95 % of the share, Wilson's."""


class PassageCounts(TypedDict):
    """Counts of cases, or of controls, by the passages of their two replies."""

    groups: list[PassageGroup]
    """Of each kind that there is, in the order `same`, `reordered`, `other`."""
    kept: float | None
    """Mean share of the passages of the first reply that came with the second one too; None if there were none."""
    kept_interval: tuple[float, float] | None
    """95 % of that mean; None if nothing tells it."""
    unknown: int
    """Answered cases of which it is not known what was retrieved for both replies: no group has them."""
    open: int
    """Cases that say neither: no group has them, though their passages are known."""
    p: float | None
    """P value of the rates with other passages and with the same ones, in whatever order, being equal (Fisher's); None
    where there is only one of the two."""


class PassageSummary(TypedDict):
    """Whether answers changed, or failed, with other passages or with the same ones."""

    hit: Literal["changed", "failed"]
    """What is counted of cases: answers that changed, where the test tells them; else cases that failed."""
    cases: PassageCounts
    """Without controls."""
    control: PassageCounts | None
    """Of controls, whose hits are answers that changed; None if none was asked."""
