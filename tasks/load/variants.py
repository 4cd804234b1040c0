"""Contrast sets: rows of one cluster are variants of one text, and each is paired with the original."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from contrapose.tasks.core.errors import DataError
from contrapose.tasks.core.records import RelatedTexts
from contrapose.tasks.load.rows import escape


def pair_variants(samples: Iterable[RelatedTexts], *, source: str) -> list[RelatedTexts]:
    """Return a pair of the original and each other variant of a cluster, in the order of the source.

    The original is the variant that comes first: the least, where all are numbers, else the first in the source.
    Clusters without it, or without another variant, have no pair. Raise DataError where rows have no cluster or
    variant, a cluster has a variant twice, or no pair is left.
    """
    rows = list(samples)
    for sample in rows:
        if sample.cluster is None or sample.cluster.startswith(DERIVED) or sample.variant is None:
            lacking = "cluster" if sample.variant is not None else "variant"
            raise DataError(
                f"sample {escape(sample.id)} has no {lacking}",
                expected="the cluster and the variant of every row",
                remedy=f"Name the column, such as --set data.columns.{lacking}=COLUMN.",
                where=escape(source),
            )
    first = _original(rows)
    clusters: dict[str, dict[str, RelatedTexts]] = {}
    for sample in rows:
        members = clusters.setdefault(sample.cluster or "", {})
        if sample.variant in members:
            raise DataError(
                f"cluster {escape(sample.cluster or '')} has variant {escape(sample.variant or '')} twice",
                expected="each variant once in a cluster",
                remedy="Name columns that together tell the texts apart as the cluster.",
                where=escape(source),
            )
        members[sample.variant or ""] = sample
    pairs = [
        _pair(clusters[sample.cluster or ""][first], sample)
        for sample in rows
        if sample.variant != first and first in clusters[sample.cluster or ""]
    ]
    if not pairs:
        raise DataError(
            f"no cluster has both variant {escape(first)} and another one",
            expected="two or more variants in a cluster",
            remedy="Name the column of the cluster and that of the variant.",
            where=escape(source),
        )
    return pairs


DERIVED = "context-"
"""Begins the cluster of rows that share a context, where no column names one."""


def _original(rows: Sequence[RelatedTexts]) -> str:
    names = list(dict.fromkeys(sample.variant or "" for sample in rows))
    try:
        return min(names, key=float)
    except ValueError:
        return names[0]


def _pair(original: RelatedTexts, other: RelatedTexts) -> RelatedTexts:
    """Return a pair with the id of the other variant."""
    return replace(
        original,
        id=other.id,
        slice=other.slice,
        after=other.text,
        context_after=other.context,
        options_after=other.options if other.options != original.options else (),
        answers_after=other.answers,
        variant=other.variant,
    )


def draw_clusters(clusters: Sequence[str | None], order: Sequence[int], limit: int) -> frozenset[int]:
    """Return places of samples by complete clusters, `limit` at most, but one cluster at least.

    `clusters` are those of the samples, and `order` their places, drawn at random.
    """
    places: dict[str | None, list[int]] = {}
    for place, name in enumerate(clusters):
        places.setdefault(name, []).append(place)
    drawn: list[int] = []
    for name in dict.fromkeys(clusters[place] for place in order):
        if drawn and len(drawn) + len(places[name]) > limit:
            break
        drawn += places[name]
    return frozenset(drawn)


def note_on_pairs(pairs: Sequence[RelatedTexts], rows: int) -> str:
    """Return what people should know about rows that have no pair; empty where all have one."""
    left = rows - len(pairs) - len({pair.cluster for pair in pairs})
    return f"{left:,} rows are left out: their cluster has no original, or nothing but it" if left else ""
