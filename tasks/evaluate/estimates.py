"""A probe's measures into figures with intervals, and into effects: the change beyond that of the controls."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from contrapose.tasks.outcome import Effect, Estimate
from contrapose.tasks.probes.base import Measure
from contrapose.tasks.statistics.means import Mean, difference, mean


def clusters_of(results: pd.DataFrame) -> np.ndarray:
    """Which rows are not independent: those of one cluster, else those of one sample; (rows,) of numbers.

    A cluster may be named as a sample of another one is.
    """
    cluster, sample = (pd.factorize(results[name])[0] for name in ("cluster", "sample_id"))
    return np.where(cluster >= 0, cluster, len(results) + sample)


def estimates(measures: Sequence[Measure], results: pd.DataFrame) -> dict[str, Estimate]:
    """The mean of each measure over the cases, by its name; what no row has is left out.

    Args:
        measures: of these results.
        results: cases and controls, without rows in error.
    """
    case = ~results["control"].to_numpy(dtype=bool)
    cluster = clusters_of(results)
    found = {
        measure.name: mean(measure.values[case], cluster[case], share=measure.share, bounds=measure.bounds)
        for measure in measures
    }
    among = {measure.name: measure.among for measure in measures}
    return {name: _estimate(each, among[name]) for name, each in found.items() if each is not None}


def effects(measures: Iterable[Measure], results: pd.DataFrame) -> list[Effect]:
    """For each measure that asks for it: cases minus controls, over the samples that have both."""
    control = results["control"].to_numpy(dtype=bool)
    if not control.any():
        return []
    sample = pd.Series(pd.factorize(results["sample_id"])[0])
    cluster = pd.Series(clusters_of(results)).groupby(sample).first()
    found = []
    for measure in measures:
        if measure.net is None:
            continue
        values = pd.Series(measure.values)
        under = {kind: values[rows].groupby(sample[rows]).mean() for kind, rows in (("case", ~control), ("c", control))}
        pairs = pd.DataFrame(under).dropna()
        between = measure.share or measure.bounds == (0, 1)
        net = difference(pairs["case"], pairs["c"], cluster.loc[pairs.index], share=between)
        if net is not None:
            found.append(_effect(measure, net, pairs))
    return found


def _estimate(found: Mean, among: str) -> Estimate:
    return Estimate(value=found.value, interval=found.interval, rows=found.rows, clusters=found.clusters, among=among)


def _effect(measure: Measure, net: Mean, pairs: pd.DataFrame) -> Effect:
    return Effect(
        name=measure.net or measure.name,
        measure=measure.name,
        value=net.value,
        interval=net.interval,
        case=float(pairs["case"].mean()),
        control=float(pairs["c"].mean()),
        samples=net.rows,
        clusters=net.clusters,
    )
