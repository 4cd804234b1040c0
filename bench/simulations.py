"""What intervals, gates and estimates are worth where the truth is known: `python -m bench.simulations PAIRS`.

PAIRS is anyscale_sentence_pairs.json: its 373 pairs about 145 articles give the sizes of the clusters. Every figure is
printed beside its bar; the exit code is 1 where one is missed. `--part` runs one of the parts, `--runs` each as often.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

from bench.simulated import (
    again,
    cues,
    eligible,
    gates,
    intervals,
    labels,
    models,
    noise,
    not_worse,
    stopped_pairs,
    stopping,
    tables,
    unread,
    wordings,
)
from bench.simulated.draws import Finding

Part = Callable[[np.ndarray, int], Iterable[Finding]]
PARTS: dict[str, tuple[Part, int]] = {
    "intervals": (intervals.coverage, 4_000),
    "gates": (gates.boundaries, 4_000),
    "families": (gates.families, 2_000),
    "tables": (tables.agreement, 1_000),
    "models": (models.recovery, 500),
    "unread": (unread.unread, 1_000),
    "stopping": (stopping.stopping, 10_000),
    "several": (stopping.several, 10_000),
    "eligible": (eligible.eligible, 2_000),
    "again": (again.again, 10_000),
    "noise": (noise.noise, 500),
    "cues": (cues.cues, 500),
    "stopped_pairs": (stopped_pairs.stopped_pairs, 5_000),
    "not_worse": (not_worse.not_worse, 10_000),
    "wordings": (wordings.wordings, 2_000),
    "labels": (labels.labels, 1_000),
}
"""What is simulated, and how often."""


def main() -> None:
    """Run the parts, print every figure, and say how many missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", type=Path)
    parser.add_argument("--part", choices=PARTS, nargs="+", default=list(PARTS))
    parser.add_argument("--runs", type=int, help="how often each part is simulated; usually as often as it needs")
    given = parser.parse_args()
    sizes = cluster_sizes(given.pairs)
    missed = sum(told(name, sizes, given.runs) for name in given.part)
    print(f"{missed} missed")
    sys.exit(missed > 0)


def cluster_sizes(path: Path) -> np.ndarray:
    """How many pairs each article has."""
    rows = json.loads(path.read_text(encoding="utf-8"))
    return np.array(list(Counter(row["article_id"] for row in rows).values()))


def told(name: str, sizes: np.ndarray, runs: int | None) -> int:
    """Print the findings of a part; returns how many missed their bar."""
    part, usual = PARTS[name]
    start, found = time.process_time(), []
    for finding in part(sizes, runs or usual):
        found.append(finding)
        print(finding, flush=True)
    missed, barred = sum(not each.holds for each in found), sum(bool(each.bars) for each in found)
    print(f"{name}: {barred - missed} of {barred} hold, {time.process_time() - start:.0f} s", flush=True)
    return missed


if __name__ == "__main__":
    main()
