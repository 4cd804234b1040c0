"""Tables of runs and calls: the configuration, state and spending of each run."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import ColumnElement, case, select, update

from contrapose.tasks.config.prices import Price
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.records import Call, Calls, Usage
from contrapose.tasks.store.base import StorePart, retry_transaction
from contrapose.tasks.store.engine import build_insert
from contrapose.tasks.store.owners import is_gone, is_of_this_process, new_owner, send_beats
from contrapose.tasks.store.replay import make_change_receipt, make_put_receipt
from contrapose.tasks.store.schema import ANSWERS, READINGS, RUNS, SPENT

State = Literal["running", "incomplete", "finished", "superseded"]
ALIVE_SECONDS = 30.0
"""A run that gave a sign of life within this time is not offered for resuming."""
PULSE_SECONDS = ALIVE_SECONDS / 4
"""Between two signs of life of a run that is going on."""
LOOK_SECONDS = 1.0
"""Between two looks at a run that may still be another process's."""
UNFINISHED = ("running", "incomplete")
SHARES = (0.5, 0.95, 0.99)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSpending:
    """Spending of a run, or of its reader model, which is part of the run's."""

    answers: int = 0
    """Answers that were asked for, beside those found in the store."""
    requests: int = 0
    """Requests made, the failed ones too."""
    failures: int = 0
    """Questions given up."""
    prompt_tokens: int = 0
    completion_tokens: int = 0

    @property
    def spent(self) -> Usage:
        """Return the usage that counts against the run's budget."""
        return Usage(calls=self.requests, prompt_tokens=self.prompt_tokens, completion_tokens=self.completion_tokens)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow(RunSpending):
    """A stored run with its total spending."""

    id: str
    state: State
    config: str
    """JSON of its RunConfig."""
    owner: str
    """The process that works on it, or did."""
    folder: str
    """Working folder, which its relative paths start from."""
    started: float
    """Unix time."""
    seen: float
    """Unix time of the last sign of life."""
    hits: int
    """Answers that it found in the store."""
    reading: RunSpending = RunSpending()
    """What its reader has spent."""


class RunInProgressError(ConfigError):
    """Another process is working on the run."""


class Runs(StorePart):
    """The runs in a database."""

    @retry_transaction
    def begin(self, name: str, *, config: str, folder: str) -> str:
        """Store a new run; return its id, which is the name, with a number if the name is taken."""
        now = time.time()
        statement = build_insert(self.dialect, RUNS).on_conflict_do_nothing(index_elements=["id"]).returning(RUNS.c.id)
        row = {
            "state": "running",
            "config": config,
            "owner": new_owner(),
            "folder": folder,
            "started": now,
            "seen": now,
        }
        for number in range(1, 1000):
            chosen = name if number == 1 else f"{name}-{number}"
            with self.engine.begin() as connection:
                if connection.execute(statement, {"id": chosen, **row}).first() is not None:
                    self.record(connection, make_put_receipt("runs", {"id": chosen, **row}))
                    return chosen
        raise RuntimeError(f"a thousand runs are called {name}")

    @retry_transaction
    def resume(self, run: str, *, retried: bool = False) -> None:
        """Store that this process resumes a run; `retried`: its owner here is an earlier attempt that has ended.

        Raises RunInProgressError if another process is working on it, or ConfigError where no such run is unfinished.
        """
        with self.engine.begin() as connection:
            row = connection.execute(select(RUNS).where(RUNS.c.id == run).with_for_update()).one_or_none()
            if row is None or row.state not in UNFINISHED:
                raise ConfigError(
                    "no such run is in the response store" if row is None else f"the run is {row.state}",
                    expected="an unfinished run",
                    remedy="List unfinished runs with `contrapose resume`, or start a new run: answers are cached.",
                    where=run,
                )
            over = is_gone(row.owner) or (retried and is_of_this_process(row.owner))
            if row.state == "running" and row.seen > time.time() - ALIVE_SECONDS and not over:
                raise RunInProgressError(
                    "the run is going on in another process",
                    expected="a run that has ended",
                    remedy=f"Wait for it, or end it; after {ALIVE_SECONDS:.0f} s of silence it counts as ended.",
                    where=run,
                )
            # It will find what it had asked for itself, which it has counted as answers.
            values = {"state": "running", "seen": time.time(), "hits": -row.answers, "owner": new_owner()}
            connection.execute(update(RUNS).where(RUNS.c.id == run).values(**values))
            self.record(connection, make_change_receipt("runs", "id", [run], **values))

    def take_over(self, run: str) -> bool:
        """Take over a run that Prefect retries, once the earlier attempt has ended.

        Returns False if that attempt has finished the run. Raises RunInProgressError if it still works on it.
        """
        end = time.monotonic() + ALIVE_SECONDS + LOOK_SECONDS
        while True:
            try:
                self.resume(run, retried=True)
                return True
            except RunInProgressError:
                if time.monotonic() > end:
                    raise
            except ConfigError:
                return False
            time.sleep(LOOK_SECONDS)

    @contextmanager
    def keep_alive(self, run: str) -> Iterator[None]:
        """Mark a run as alive during the work inside, as long as this process owns it."""
        own = (RUNS.c.id == run, RUNS.c.owner == self._owner(run), RUNS.c.state == "running")
        with send_beats(lambda: self.execute(update(RUNS).where(*own).values(seen=time.time())), every=PULSE_SECONDS):
            yield

    def confirm(self, run: str) -> None:
        """Raise RunInProgressError if another process has taken a run over, before what this one found is published."""
        owner = self._owner(run)
        if owner and not is_of_this_process(owner):
            raise RunInProgressError(
                "another process has taken the run over",
                expected=f"a sign of life every {ALIVE_SECONDS:.0f} s",
                remedy="Nothing is left to do here: the other process publishes the run.",
                where=run,
            )

    def _owner(self, run: str) -> str:
        """Return the owner of a run, or "" if the run is no longer stored."""
        rows = self.fetch(select(RUNS.c.owner).where(RUNS.c.id == run))
        return str(rows[0].owner) if rows else ""

    @retry_transaction
    def add_hits(self, run: str, count: int) -> None:
        """Add to a run's count of answers found in the store."""
        counted = update(RUNS).where(RUNS.c.id == run).values(hits=RUNS.c.hits + count, seen=time.time())
        with self.engine.begin() as connection:
            hits = connection.execute(counted.returning(RUNS.c.hits)).scalar()
            self.record(connection, make_change_receipt("runs", "id", [run], hits=hits))

    @retry_transaction
    def end(self, run: str, state: State) -> None:
        """Store a run's final state; older unfinished runs of the same configuration become superseded."""
        values = {"state": state, "seen": time.time()}
        same = (
            RUNS.c.config == select(RUNS.c.config).where(RUNS.c.id == run).scalar_subquery(),
            RUNS.c.folder == select(RUNS.c.folder).where(RUNS.c.id == run).scalar_subquery(),
        )
        older = (RUNS.c.id != run, RUNS.c.state.in_(UNFINISHED), RUNS.c.seen < time.time() - ALIVE_SECONDS)
        superseded = update(RUNS).where(*same, *older).values(state="superseded").returning(RUNS.c.id)
        with self.engine.begin() as connection:
            connection.execute(update(RUNS).where(RUNS.c.id == run).values(**values))
            ids = connection.execute(superseded).scalars().all() if state == "finished" else []
            others = [make_change_receipt("runs", "id", ids, state="superseded")] if ids else []
            self.record(connection, make_change_receipt("runs", "id", [run], **values), *others)

    def get(self, run: str) -> RunRow | None:
        """Return a run, or None if there is no such run."""
        rows = self.fetch(select(RUNS).where(RUNS.c.id == run))
        return RunRow(**rows[0]._mapping, reading=self.read(run)) if rows else None

    def latency(self, run: str) -> dict[float, float]:
        """Return nearest-rank percentiles of a run's answer latencies in seconds; empty if none is known."""
        import numpy as np

        own = select(ANSWERS.c.seconds).where(ANSWERS.c.run == run, ANSWERS.c.seconds > 0)
        # A database that sorts a million of them takes several times as long, and hundreds of megabytes.
        seconds = np.sort(np.fromiter((row[0] for row in self.fetch(own)), dtype=float))
        return {share: float(seconds[max(math.ceil(share * len(seconds)), 1) - 1]) for share in SHARES if len(seconds)}

    def latest(self, most: int) -> list[tuple[str, str]]:
        """Return ids and configurations of the most recently active runs, latest first."""
        wanted = select(RUNS.c.id, RUNS.c.config).order_by(RUNS.c.seen.desc()).limit(most)
        return [(row.id, row.config) for row in self.fetch(wanted)]

    def usage(self, run: str) -> Usage:
        """Return the usage of a run so far; zero if there is no such run."""
        row = self.get(run)
        return Usage() if row is None else row.spent

    def read(self, run: str) -> RunSpending:
        """Return the spending of a run's reader model so far; zero if it has none."""
        rows = self.fetch(select(*(READINGS.c[name] for name in SPENT)).where(READINGS.c.run == run))
        return RunSpending(**rows[0]._mapping) if rows else RunSpending()

    def find_unfinished(self) -> Sequence[RunRow]:
        """Return unfinished runs, running ones too, newest first."""
        wanted = select(RUNS).where(RUNS.c.state.in_(UNFINISHED)).order_by(RUNS.c.started.desc())
        return [RunRow(**row._mapping) for row in self.fetch(wanted)]


MOST = 5
"""Calls of each kind."""


class CallTable(StorePart):
    """The calls in a database."""

    def find_greatest(self, run: str, *, prices: Mapping[str, Price | None]) -> Calls:
        """Return the slowest and the most expensive calls that a run made itself.

        If a price is unknown, or all models are free, the most expensive calls are those with most tokens.
        """

        def cost(price: Price) -> ColumnElement[Any]:
            return ANSWERS.c.prompt_tokens * price.input + ANSWERS.c.completion_tokens * price.output

        known = {model: price for model, price in prices.items() if price is not None}
        if len(known) < len(prices) or not any(price.input or price.output for price in known.values()):
            dearness = cost(Price(input=1_000_000, output=1_000_000))
        else:
            dearness = case(*((ANSWERS.c.model == model, cost(price)) for model, price in known.items()), else_=0)
        slowest, dearest = (self._greatest(run, weight, prices) for weight in (ANSWERS.c.seconds, dearness))
        return Calls(slowest=slowest, dearest=dearest)

    def _greatest(self, run: str, weight: ColumnElement[Any], prices: Mapping[str, Price | None]) -> tuple[Call, ...]:
        # Keys only: the database then sorts no prompts.
        order = (weight.desc(), ANSWERS.c.key)
        keys = select(ANSWERS.c.key).where(ANSWERS.c.run == run).order_by(*order).limit(MOST)
        calls = []
        for row in self.fetch(select(ANSWERS).where(ANSWERS.c.key.in_(keys)).order_by(*order)):
            price = prices.get(row.model)
            usage = Usage(calls=1, prompt_tokens=row.prompt_tokens, completion_tokens=row.completion_tokens)
            call = Call(
                prompt=str(json.loads(row.question)["prompt"]),
                seconds=row.seconds,
                prompt_tokens=row.prompt_tokens,
                completion_tokens=row.completion_tokens,
                cost=None if price is None else price.of(usage),
            )
            calls.append(call)
        return tuple(calls)
