"""Looks of earlier runs: a run that adds cases to a question that was left open judges it once more."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from contrapose.flows.run_context import Run
from contrapose.tasks.config.plan import Plan
from contrapose.tasks.core.registry import probe
from contrapose.tasks.evaluate.embeddings import revision
from contrapose.tasks.infer.looks import Look, looks
from contrapose.tasks.statistics.looks import ONE_LOOK, Looks
from contrapose.tasks.store import Store
from contrapose.tasks.tables.table import Table, batches

COLUMNS = ["id", "original", "skip_reason", "control"]
MOST = 100_000
"""Rows of cases by which an earlier look is known: so many leave no verdict open that is worth another look."""


class PastLooks:
    """What other runs that asked the same of a model left open, and what this one leaves for those to come.

    Args:
        run: the run.
        plan: the test.
        cases: all that it may ask.
    """

    def __init__(self, run: Run, plan: Plan, cases: Table) -> None:
        self.key, self.run = _key(run, plan), run.id
        self.hashes = list(_hashes(cases)) if cases["rows"] <= MOST else []

    def before(self) -> tuple[int, ...]:
        """By how many cases they had judged, ascending; each time fewer than there are now."""
        return Store().looks.before(self.key, self.hashes, run=self.run) if self.hashes else ()

    def note(self) -> None:
        """Keep by which cases the verdict was left open: by all of them."""
        if self.hashes:
            Store().looks.note(self.key, self.hashes, run=self.run)


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """When a test of a run is held against its gates."""

    past: PastLooks
    earlier: tuple[int, ...]
    """By how many cases earlier runs judged it and left it open, ascending."""
    looks: tuple[Look, ...]
    """Of this run, up to now."""
    whole: int
    """Cases that are judged at the last look there may be."""
    beside: tuple[str, ...] = ()
    """Ids of the runs that are asked the same side by side, this one too; empty where it is asked alone."""

    @classmethod
    def at_the_end(cls, run: Run, plan: Plan, cases: Table) -> Schedule:
        """Once, when all cases are asked; never, where there are too many to be known again."""
        past = PastLooks(run, plan, cases)
        judged = len(past.hashes)
        last = (Look(cases["rows"], judged),) if judged else ()
        return cls(past=past, earlier=past.before(), looks=last, whole=judged)

    @classmethod
    def of_portions(cls, run: Run, plan: Plan, cases: Table, *, beside: Sequence[str]) -> Schedule:
        """After every portion; alone, from where earlier runs left off. What is asked beside others stops with them."""
        places = looks(cases, size=run.config.runner_args.portion)
        past = PastLooks(run, plan, cases)
        earlier = past.before()
        begin = 0 if beside else max(earlier, default=0)
        ahead = tuple(place for place in places if place.judged > begin)
        whole = places[-1].judged if places else 0
        return cls(past=past, earlier=earlier, looks=ahead, whole=whole, beside=tuple(beside))

    def up_to(self, count: int) -> Schedule:
        """As it is after so many of the looks."""
        return replace(self, looks=self.looks[:count])

    @property
    def evidence(self) -> Looks:
        """All looks of this run, and those of earlier ones, from which it goes on."""
        if not self.looks:
            return ONE_LOOK
        begin = min(max(self.earlier, default=0), self.looks[-1].judged - 1)
        shares = (share for look, share in zip(self.looks, self.shares, strict=True) if look.judged > begin)
        return Looks(tuple(shares), tuple(count / self.whole for count in self.earlier if count <= begin))

    @property
    def shares(self) -> tuple[float, ...]:
        """Of the cases that may be judged, how many were so at each look of this run."""
        return tuple(look.judged / self.whole for look in self.looks)


def _key(run: Run, plan: Plan) -> str:
    """Hash of all that a verdict is about, but for the cases: of another model, gate or wording it is another one."""
    spec, config = run.spec, run.config
    about = {
        "identity": dict(run.identity),
        "provider": spec.provider,
        "system_instruction": spec.system_instruction,
        "apply_chat_template": spec.apply_chat_template,
        "few_shot": [shot.model_dump() for shot in spec.few_shot],
        "generation": spec.generation.model_dump(mode="json"),
        "reader": dict(run.reader.identity) if run.reader else None,
        "embedding": [config.embedding_model, revision(config.embedding_model)],
        "test": [plan.test, probe(plan.test).version, plan.settings, plan.min_pass_rate, plan.control, plan.repeats],
        "versions": dict(plan.versions),
    }
    return hashlib.sha256(json.dumps(about, sort_keys=True, default=str).encode()).hexdigest()


def _hashes(cases: Table) -> Iterator[str]:
    """Of every case that is judged, in order."""
    for part in batches(cases, columns=COLUMNS):
        for name, original, skipped, control in zip(*(part[column].to_pylist() for column in COLUMNS), strict=True):
            if skipped is None and not control:
                yield _hash(f"{name}\x00{original}")


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
