"""Load the samples of a data source: check every row, then draw as many samples as requested.

In a contrast set, the rows of one cluster are variants of one text; each variant forms a pair with the original.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, cast

from contrapose.tasks.config.data_settings import DataSettings
from contrapose.tasks.core.outcome import ColumnsRead, LeftOut
from contrapose.tasks.core.records import RelatedTexts, Sample
from contrapose.tasks.load import bundled, huggingface, opening
from contrapose.tasks.load.opening import source_error
from contrapose.tasks.load.rows import escape
from contrapose.tasks.load.source_reader import SourceReading, detect_format


@dataclass(slots=True, kw_only=True)
class SourceFacts:
    """Facts about a source that are known after its last sample."""

    rows: int = 0
    """Rows of which the samples are drawn."""
    warnings: tuple[str, ...] = ()
    """What people should know although nothing is wrong."""
    columns: ColumnsRead | None = None
    """Which columns were read as what, and which were not."""
    left_out: LeftOut | None = None
    """Rows that could not be used; None if all could."""


@dataclass(slots=True, kw_only=True)
class LoadedSamples(SourceFacts):
    """Loaded samples, and where they came from."""

    samples: list[Any]
    """Samples of the type that was asked for, in the order of the source."""


def load_samples(
    data: DataSettings,
    sample_type: type[Sample],
    *,
    limit: int | None,
    seed: int,
    most: int | None = None,
    uses_answers: bool = True,
) -> LoadedSamples:
    """Read a source, check every row, and return the drawn samples; for the parameters see `Drawing`."""
    drawing = Drawing(data=data, sample_type=sample_type, limit=limit, seed=seed, most=most, uses_answers=uses_answers)
    samples = list(drawing.samples())
    return LoadedSamples(samples=samples, **{fact.name: getattr(drawing, fact.name) for fact in fields(SourceFacts)})


@dataclass(slots=True, kw_only=True)
class Drawing(SourceFacts):
    """A random draw of samples from a source, which yields one sample after the other."""

    data: DataSettings
    sample_type: type[Sample]
    """`TextSample`, `ItemSample`, `SummaryPair` or `AnswerPair`."""
    limit: int | None
    """At most this many, drawn by the seed (the first ones with `shuffle: false`); None: all.
    What a smaller limit draws is part of what a larger one draws."""
    seed: int
    most: int | None = None
    """Read only so many rows of the source; None: all."""
    uses_answers: bool = True
    """Whether the test uses right answers; if not, a problem with them refuses no row."""

    def samples(self) -> Iterator[Any]:
        """Yield the drawn samples in the order of the source, or raise ConfigError or DataError."""
        if self.limit is None:
            yield from self._read_source()
            return
        # How many rows there are decides which are drawn: they are counted first, and not kept.
        clusters = [sample.cluster for sample in self._read_source()] if self._has_variants else None
        if clusters is None:
            for _ in self._read_source():
                pass
        order = list(range(self.rows))
        if self.data.shuffle:
            random.Random(self.seed).shuffle(order)
        # Of a contrast set all variants are asked, or none.
        chosen = frozenset(order[: self.limit]) if clusters is None else draw_clusters(clusters, order, self.limit)
        yield from (sample for place, sample in enumerate(self._read_source()) if place in chosen)

    @property
    def _has_variants(self) -> bool:
        """Return whether rows are variants of texts, so that pairs are made from them."""
        return self.sample_type is RelatedTexts and bool(self.data.columns.get("variant"))

    def _read_source(self) -> Iterator[Sample]:
        """Yield the samples of one pass over the source, and keep the facts that it shows."""
        reading = SourceReading(data=self.data, sample_type=self.sample_type, uses_answers=self.uses_answers)
        samples = reading.samples(most=self.most)
        if self._has_variants:
            pairs = pair_variants(cast(Iterator[RelatedTexts], samples), source=self.data.source)
            self.rows, notes = len(pairs), [describe_unpaired_rows(pairs, reading.good)]
            yield from pairs
        else:
            yield from samples
            self.rows, notes = reading.good, []
        self.left_out, self.warnings = reading.left_out(), tuple(filter(None, (*notes, *reading.warnings())))
        self.columns = reading.description.summary() if reading.description else None


def hash_source(data: DataSettings) -> str:
    """Return the hash of a source's content, found without parsing a file, or raise ConfigError or DataError."""
    special = {"bundled": bundled.sha256, "hf": huggingface.sha256}
    own = special.get(detect_format(data))
    return own(data) if own else opening.sha256(data.source)


def shuffle_fairly(clusters: Sequence[str | None], ids: Sequence[str], *, seed: int) -> list[int]:
    """Return the places of samples in an order whose every beginning is a random sample.

    It is the order of hashes, so that it depends on no other sample. Samples of one cluster stay together.
    """

    def digest(place: int) -> bytes:
        # A cluster may be named as a sample of another one is.
        cluster = clusters[place]
        kind, label = ("sample", ids[place]) if cluster is None else ("cluster", cluster)
        return hashlib.sha256(f"order\x00{seed}\x00{kind}\x00{label}".encode("utf-8", "surrogatepass")).digest()

    return sorted(range(len(ids)), key=digest)


def pair_variants(samples: Iterable[RelatedTexts], *, source: str) -> list[RelatedTexts]:
    """Return a pair of the original and each other variant of a cluster, in the order of the source.

    The original is the variant that comes first: the least, where all are numbers, else the first in the source.
    Clusters without it, or without another variant, have no pair. Raise DataError if rows have no cluster or
    variant, a cluster has a variant twice, or no pair is left.
    """
    rows = list(samples)
    for sample in rows:
        if sample.cluster is None or sample.cluster.startswith(DERIVED) or sample.variant is None:
            lacking = "cluster" if sample.variant is not None else "variant"
            raise source_error(
                source,
                f"sample {escape(sample.id)} has no {lacking}",
                expected="the cluster and the variant of every row",
                remedy=f"Name the column, such as --set data.columns.{lacking}=COLUMN.",
            )
    clusters: dict[str, dict[str, RelatedTexts]] = {}
    for sample in rows:
        cluster, variant = sample.cluster or "", sample.variant or ""
        if clusters.setdefault(cluster, {}).setdefault(variant, sample) is not sample:
            raise source_error(
                source,
                f"cluster {escape(cluster)} has variant {escape(variant)} twice",
                expected="each variant once in a cluster",
                remedy="Name columns that together tell the texts apart as the cluster.",
            )
    names = list(dict.fromkeys(sample.variant or "" for sample in rows))
    try:
        first = min(names, key=float)
    except ValueError:
        first = names[0]
    pairs = []
    for other in rows:
        original = clusters[other.cluster or ""].get(first, other)
        if original is not other:
            pair = replace(
                original,
                id=other.id,
                slice=other.slice,
                after=other.text,
                context_after=other.context,
                options_after=other.options if other.options != original.options else (),
                answers_after=other.answers,
                variant=other.variant,
            )
            pairs.append(pair)
    if not pairs:
        raise source_error(
            source,
            f"no cluster has both variant {escape(first)} and another one",
            expected="two or more variants in a cluster",
            remedy="Name the column of the cluster and that of the variant.",
        )
    return pairs


DERIVED = "context-"
"""Beginning of the cluster's name for rows that share a context, if no column names a cluster."""


def draw_clusters(clusters: Sequence[str | None], order: Sequence[int], limit: int) -> frozenset[int]:
    """Return at most `limit` places of samples in random `order`, by complete clusters, but at least one cluster."""
    places: dict[str | None, list[int]] = {}
    for place, name in enumerate(clusters):
        places.setdefault(name, []).append(place)
    drawn: list[int] = []
    for name in dict.fromkeys(clusters[place] for place in order):
        if drawn and len(drawn) + len(places[name]) > limit:
            break
        drawn += places[name]
    return frozenset(drawn)


def describe_unpaired_rows(pairs: Sequence[RelatedTexts], rows: int) -> str:
    """Return a note about rows that have no pair, or an empty text if all have one."""
    left = rows - len(pairs) - len({pair.cluster for pair in pairs})
    return f"{left:,} rows are left out: their cluster has no original, or nothing but it" if left else ""
