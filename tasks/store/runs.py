"""Runs: what each was asked for, what it spent, and whether it finished."""

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
    """What a run has spent, or its reader, whose part is among that of the run."""

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
        """What counts against the budget of the run."""
        return Usage(calls=self.requests, prompt_tokens=self.prompt_tokens, completion_tokens=self.completion_tokens)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow(RunSpending):
    """A run as the store knows it, with what it has spent in all."""

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
        """Note that a run begins; return its id: the name, with a number where that is taken."""
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
        """Note that a run goes on, in this process; `retried`: its owner here is an attempt that has ended.

        Raises GoingOnError if another process is working on it, or ConfigError where no such run is unfinished.
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
        """Note that a run that is tried again goes on, in this process, once the earlier attempt has ended.

        Returns False where that attempt has brought it to its end meanwhile. Raises GoingOnError if it still works
        on it.
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
        """Give signs of life of a run meanwhile, as long as it is this process's."""
        own = (RUNS.c.id == run, RUNS.c.owner == self._owner(run), RUNS.c.state == "running")
        with send_beats(lambda: self.execute(update(RUNS).where(*own).values(seen=time.time())), every=PULSE_SECONDS):
            yield

    def confirm(self, run: str) -> None:
        """Raise GoingOnError if another process has taken a run over, before what this one found is published."""
        owner = self._owner(run)
        if owner and not is_of_this_process(owner):
            raise RunInProgressError(
                "another process has taken the run over",
                expected=f"a sign of life every {ALIVE_SECONDS:.0f} s",
                remedy="Nothing is left to do here: the other process publishes the run.",
                where=run,
            )

    def _owner(self, run: str) -> str:
        """Owner of a run, or "" if the store does not know it any more."""
        rows = self.fetch(select(RUNS.c.owner).where(RUNS.c.id == run))
        return str(rows[0].owner) if rows else ""

    @retry_transaction
    def add_hits(self, run: str, count: int) -> None:
        """Add answers that a run found in the store."""
        counted = update(RUNS).where(RUNS.c.id == run).values(hits=RUNS.c.hits + count, seen=time.time())
        with self.engine.begin() as connection:
            hits = connection.execute(counted.returning(RUNS.c.hits)).scalar()
            self.record(connection, make_change_receipt("runs", "id", [run], hits=hits))

    @retry_transaction
    def end(self, run: str, state: State) -> None:
        """Note that a run came to its end; older unfinished ones that asked for the same are superseded."""
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
        """Nearest-rank percentiles of the latencies of a run's answers, in seconds; empty if none is known."""
        import numpy as np

        own = select(ANSWERS.c.seconds).where(ANSWERS.c.run == run, ANSWERS.c.seconds > 0)
        # A database that sorts a million of them takes several times as long, and hundreds of megabytes.
        seconds = np.sort(np.fromiter((row[0] for row in self.fetch(own)), dtype=float))
        return {share: float(seconds[max(math.ceil(share * len(seconds)), 1) - 1]) for share in SHARES if len(seconds)}

    def latest(self, most: int) -> list[tuple[str, str]]:
        """Return ids and configurations of the runs that were seen last, the latest first."""
        wanted = select(RUNS.c.id, RUNS.c.config).order_by(RUNS.c.seen.desc()).limit(most)
        return [(row.id, row.config) for row in self.fetch(wanted)]

    def usage(self, run: str) -> Usage:
        """Return what a run has spent so far; nothing if there is no such run."""
        row = self.get(run)
        return Usage() if row is None else row.spent

    def read(self, run: str) -> RunSpending:
        """Return what the reader of a run has spent so far; nothing if it has none."""
        rows = self.fetch(select(*(READINGS.c[name] for name in SPENT)).where(READINGS.c.run == run))
        return RunSpending(**rows[0]._mapping) if rows else RunSpending()

    def find_unfinished(self) -> Sequence[RunRow]:
        """Return runs that did not come to their end, the newest first; running ones are among them."""
        wanted = select(RUNS).where(RUNS.c.state.in_(UNFINISHED)).order_by(RUNS.c.started.desc())
        return [RunRow(**row._mapping) for row in self.fetch(wanted)]


MOST = 5
"""Calls of each kind."""


class CallTable(StorePart):
    """Calls in a database."""

    def find_greatest(self, run: str, *, prices: Mapping[str, Price | None]) -> Calls:
        """Return the slowest and the dearest calls among those that a run made itself.

        Where the price of a model is unknown, or all are free, the dearest calls took most tokens.
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
