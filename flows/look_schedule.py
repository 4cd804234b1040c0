"""When a test is compared with its gates: at each look of this run, and at those of earlier runs that left it open."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from contrapose.flows.run_context import Run
from contrapose.tasks.config.plan import Plan
from contrapose.tasks.core.registry import probe
from contrapose.tasks.infer.looks import Look, looks
from contrapose.tasks.statistics.looks import ONE_LOOK, Looks
from contrapose.tasks.store import Store
from contrapose.tasks.tables.table import Table, batches

COLUMNS = ["id", "original", "skip_reason", "control"]
MOST = 100_000
"""Rows of cases by which an earlier look is known: so many leave no verdict open that is worth another look."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """When a test of a run is compared with its gates."""

    run: str
    """Id of the run."""
    key: str = field(repr=False)
    """Hash of what the verdict is about, but for the cases."""
    hashes: list[str] = field(repr=False)
    """Of every case that is judged, in order; empty where there are too many to be known again."""
    earlier: tuple[int, ...]
    """By how many cases earlier runs judged it and left it open, ascending."""
    looks: tuple[Look, ...] = ()
    """Of this run, up to now."""
    total: int = 0
    """Cases that are judged at the last look there may be."""
    beside: tuple[str, ...] = ()
    """Ids of the runs that are asked the same side by side, this one too; empty where it is asked alone."""

    @classmethod
    def _of_test(cls, run: Run, plan: Plan, cases: Table) -> Schedule:
        """Return the schedule of a test without a look of this run."""
        hashes, key = _hash_cases(cases) if cases["rows"] <= MOST else [], _hash_subject(run, plan)
        earlier = Store().looks.before(key, hashes, run=run.id) if hashes else ()
        return cls(run=run.id, key=key, hashes=hashes, earlier=earlier)

    @classmethod
    def at_the_end(cls, run: Run, plan: Plan, cases: Table) -> Schedule:
        """Look once, when all cases are asked; never, where there are too many to be known again."""
        schedule = cls._of_test(run, plan, cases)
        judged = len(schedule.hashes)
        return replace(schedule, looks=(Look(cases["rows"], judged),) if judged else (), total=judged)

    @classmethod
    def of_portions(cls, run: Run, plan: Plan, cases: Table, *, beside: Sequence[str]) -> Schedule:
        """Look after every portion, and alone only after the cases of earlier runs; side by side all stop together."""
        places, schedule = looks(cases, size=run.config.runner_args.portion), cls._of_test(run, plan, cases)
        begin = 0 if beside else max(schedule.earlier, default=0)
        ahead = tuple(place for place in places if place.judged > begin)
        return replace(schedule, looks=ahead, total=places[-1].judged if places else 0, beside=tuple(beside))

    def up_to(self, count: int) -> Schedule:
        """Keep only the first looks."""
        return replace(self, looks=self.looks[:count])

    def note_open(self) -> None:
        """Keep by which cases the verdict was left open, for later runs: by all of them."""
        if self.hashes:
            Store().looks.note(self.key, self.hashes, run=self.run)

    @property
    def evidence(self) -> Looks:
        """All looks of this run, and those of earlier ones, from which it goes on."""
        if not self.looks:
            return ONE_LOOK
        begin = min(max(self.earlier, default=0), self.looks[-1].judged - 1)
        shares = (share for look, share in zip(self.looks, self.shares, strict=True) if look.judged > begin)
        return Looks(tuple(shares), tuple(count / self.total for count in self.earlier if count <= begin))

    @property
    def shares(self) -> tuple[float, ...]:
        """Shares of the cases that may be judged, at each look of this run."""
        return tuple(look.judged / self.total for look in self.looks)


def _hash_subject(run: Run, plan: Plan) -> str:
    """Hash all that a verdict is about, but for the cases: of another model, gate or wording it is another one."""
    spec = run.spec
    about = {
        "identity": dict(run.identity),
        "provider": spec.provider,
        "system_instruction": spec.system_instruction,
        "apply_chat_template": spec.apply_chat_template,
        "few_shot": [shot.model_dump() for shot in spec.few_shot],
        "generation": spec.generation.model_dump(mode="json"),
        "reader": dict(run.reader.identity) if run.reader else None,
        "embedding": list(run.embedding.values()),
        "test": [plan.test, probe(plan.test).version, plan.settings, plan.min_pass_rate, plan.control, plan.repeats],
        "versions": dict(plan.versions),
    }
    return hashlib.sha256(json.dumps(about, sort_keys=True, default=str).encode()).hexdigest()


def _hash_cases(cases: Table) -> list[str]:
    """Hash each case that is judged, in order."""
    return [
        hashlib.sha256(f"{name}\x00{original}".encode("utf-8", "surrogatepass")).hexdigest()[:16]
        for part in batches(cases, columns=COLUMNS)
        for name, original, skipped, control in zip(*(part[column].to_pylist() for column in COLUMNS), strict=True)
        if skipped is None and not control
    ]
