"""How many labels recorded judges save, and whether intervals hold: `python -m bench.labels_saved FOLDER`.

FOLDER holds llmbar_pairs.jsonl and llmbar_replies.jsonl.gz. The label is whether people prefer the first output, the
verdict whether a judge does, averaged over both orders. Each run draws labels of a part of the pairs; the true share is
that of all. `drawn anew`: 999 pairs are drawn with replacement first, so that the pairs themselves vary, too.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections import defaultdict
from pathlib import Path

import numpy as np

from bench.simulated.draws import covered
from contrapose.tasks.statistics.predicted import predict_mean

PAIRS, LABELS, PART = 999, (50, 100, 300), 0.25
VALUES = {"A": 1.0, "B": 0.0}


def main() -> None:
    """Print coverage and labels saved for each judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=1_000)
    arguments = parser.parse_args()
    rng = np.random.default_rng(66)
    for judge, (label, verdict) in read_judges(arguments.folder).items():
        right = np.mean(np.where(verdict == 0.5, 0.5, (verdict > 0.5) == label))
        print(f"{judge}: {len(label)} pairs, right on {right:.3f}", flush=True)
        for count in LABELS:
            _measure(rng, label, verdict, count, PAIRS, arguments.runs)
        _measure(rng, label, verdict, round(PART * len(label)), None, arguments.runs)


def read_judges(folder: Path) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return labels and verdicts of each judge, 1 for the first output."""
    with (folder / "llmbar_pairs.jsonl").open(encoding="utf-8") as lines:
        labels = {row["id"]: float(row["label"] == 1) for row in map(json.loads, lines)}
    judges: dict[str, list[tuple[float, float]]] = defaultdict(list)
    with gzip.open(folder / "llmbar_replies.jsonl.gz", "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            better = [VALUES.get(row["read_correct_first"], 0.5), 1 - VALUES.get(row["read_correct_second"], 0.5)]
            label, right = labels[row["id"]], float(np.mean(better))
            judges[f"{row['model']} {row['strategy']}"].append((label, right if label else 1 - right))
    return {judge: (np.array(rows)[:, 0], np.array(rows)[:, 1]) for judge, rows in sorted(judges.items())}


def _measure(
    rng: np.random.Generator, label: np.ndarray, verdict: np.ndarray, count: int, pairs: int | None, runs: int
) -> None:
    """Print coverage of the share over all pairs, with the judge and without, and the median of labels saved."""
    held, alone, saved, narrower = [], [], [], []
    for _ in range(runs):
        own = np.arange(len(label)) if pairs is None else rng.integers(0, len(label), pairs)
        known = np.full(len(own), np.nan)
        drawn = rng.permutation(len(own))[:count]
        known[drawn] = label[own[drawn]]
        predicted = predict_mean(known, verdict[own], np.arange(len(own)))
        assert predicted is not None
        assert predicted.mean.interval is not None
        assert predicted.alone.interval is not None
        held.append(covered(predicted.mean.interval, float(label.mean())))
        alone.append(covered(predicted.alone.interval, float(label.mean())))
        saved.append(1 - predicted.labels / predicted.worth)
        narrower.append(np.ptp(predicted.mean.interval) / np.ptp(predicted.alone.interval))
    way = "as they are" if pairs is None else "drawn anew"
    print(
        f"  {count} labels, pairs {way}: covered {np.mean(held):.3f}, by labels alone {np.mean(alone):.3f}; "
        f"{np.median(saved):.3f} fewer labels, width {np.median(narrower):.3f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
