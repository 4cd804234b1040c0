"""Sound tables of a test on the mock model, to be corrupted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
from mocked import mocked

from contrapose.tasks.config.chosen_tests import Tests
from contrapose.tasks.config.plan import Plan, plans
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core.records import Case, Trial
from contrapose.tasks.core.registry import find, names, probe
from contrapose.tasks.core.validation import Checked, Kind, Suite
from contrapose.tasks.evaluate.scoring import score_trials
from contrapose.tasks.load.samples import load_samples
from contrapose.tasks.perturb.cases import build_cases
from contrapose.tasks.tables.columnar import to_arrow
from contrapose.tasks.tables.results import make_result_schema
from contrapose.tasks.tables.table import write_arrow
from contrapose.tasks.validate.gates import Sifted, sift
from contrapose.tasks.validate.kinds import Handed, collect_handed, expect_rows
from contrapose.tasks.validate.task import validate_cases, validate_completions, validate_results, validate_samples

Rows = list[Any]
Corrupt = Callable[[Rows], Rows]
LIMIT = 12


@dataclass(frozen=True)
class Sound:
    """Every table of one test, as rows; results as mappings, all others as records."""

    plan: Plan
    samples: Rows
    cases: Rows
    completions: Rows
    results: Rows
    source: int
    """Rows of the data source."""

    def corrupted(self, kind: Kind, corrupt: Corrupt) -> Sound:
        return replace(self, **{kind: corrupt(list(getattr(self, kind)))})

    def table(self, kind: Kind) -> pa.Table:
        rows = getattr(self, kind)
        if kind == "results":
            return pa.Table.from_pylist(rows, schema=make_result_schema(probe(self.plan.test)))
        return to_arrow(rows, {"samples": probe(self.plan.test).sample_type, "cases": Case, "completions": Trial}[kind])

    def handed(self, kind: Kind) -> Handed:
        if kind == "samples":
            return expect_rows(self.plan, self.source)
        if kind == "cases":
            return collect_handed(self.plan, [self.table("samples")["id"]])
        asked = [case.id for case in self.cases if case.skip_reason is None]
        return collect_handed(self.plan, [pa.chunked_array([asked], pa.string())])

    def sifted(self, kind: Kind, *, own: tuple[Suite, ...] = (), part: int = 10_000) -> Sifted:
        table = self.table(kind)
        parts = [table.slice(start, part) for start in range(0, table.num_rows, part)]
        return sift(kind, parts, self.plan, handed=self.handed(kind), own=own)

    def checked(self, kind: Kind) -> Checked:
        """As the task of the validate stage finds it, on stored tables."""
        stored = write_arrow([self.table(kind)], self.table(kind).schema)
        before = write_arrow([self.table("cases")], self.table("cases").schema)
        if kind == "samples":
            return validate_samples.fn(self.plan, stored, self.source, [])
        if kind == "cases":
            samples = write_arrow([self.table("samples")], self.table("samples").schema)
            return validate_cases.fn(self.plan, stored, samples, [])
        if kind == "completions":
            return validate_completions.fn(self.plan, [stored], before, [])
        return validate_results.fn(self.plan, stored, before, [])


def every_plan() -> list[Plan]:
    """Every test of the project, with controls."""
    chosen: dict[str, dict[str, Any]] = {}
    for name in names("probes"):
        chosen.setdefault(probe(name).category, {})[name] = {}
    config = RunConfig(tests=Tests.model_validate(chosen), limit=LIMIT)
    return [plan.model_copy(update={"control": True}) for plan in plans(config)]


@cache
def sound(test: str, *, likelihoods: str = "all") -> Sound:
    """Sound tables of a test, with controls."""
    assert find("probes", test)
    plan = next(plan for plan in every_plan() if plan.test == test)
    loaded = load_samples(plan.data, probe(test).sample_type, limit=plan.limit, seed=0)
    cases = list(build_cases(loaded.samples, plan, seed=0, likelihoods=likelihoods))  # type: ignore[arg-type]
    trials = mocked(cases)
    results = score_trials(trials, plan, model="mock", embed=embed)
    return Sound(plan, loaded.samples, cases, trials, results.to_pylist(), loaded.rows)


def embed(texts: Any) -> np.ndarray:
    """A unit vector for each text, by its characters."""
    vectors = np.array([[len(text) + 1, sum(map(ord, text)) % 97 + 1, 3] for text in texts], dtype=np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
