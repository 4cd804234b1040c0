"""Runs: what was asked for, what it has spent, and whether it came to its end."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, Literal

from sqlalchemy import ColumnElement, Connection, case, literal, select, union_all, update

from contrapose.tasks.config.prices import Price
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.records import Call, Calls, Usage
from contrapose.tasks.store.answers import percentiles
from contrapose.tasks.store.base import StorePart, change, patient, put
from contrapose.tasks.store.claims import pulse
from contrapose.tasks.store.engine import gone, here, insert_into, new_owner
from contrapose.tasks.store.schema import ANSWERS, READINGS, RUNS

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
class Taken:
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
class RunRow(Taken):
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
    reading: Taken = Taken()
    """What its reader has spent."""


class GoingOnError(ConfigError):
    """Another process is working on the run."""


class Runs(StorePart):
    """The runs in a database."""

    @patient
    def begin(self, name: str, *, config: str, folder: str) -> str:
        """Note that a run begins.

        Args:
            name: what it would like to be called.
            config: JSON of its RunConfig.
            folder: its working folder.

        Returns:
            Its id: the name, with a number where that is taken.
        """
        now = time.time()
        statement = (
            insert_into(self.engine.dialect.name, RUNS)
            .on_conflict_do_nothing(index_elements=["id"])
            .returning(RUNS.c.id)
        )
        for number in range(1, 1000):
            chosen = name if number == 1 else f"{name}-{number}"
            row = {
                "id": chosen,
                "state": "running",
                "config": config,
                "owner": new_owner(),
                "folder": folder,
                "started": now,
                "seen": now,
            }
            with self.engine.begin() as connection:
                if connection.execute(statement, row).first() is not None:
                    self.record(connection, put("runs", row))
                    return chosen
        raise RuntimeError(f"a thousand runs are called {name}")

    @patient
    def again(self, run: str, *, retried: bool = False) -> None:
        """Note that a run goes on, in this process.

        Args:
            run: its id.
            retried: whether an owner in this process is an attempt that has ended.

        Raises:
            GoingOnError: another process is working on it.
            ConfigError: there is no such run, or it came to its end.
        """
        with self.engine.begin() as connection:
            row = connection.execute(select(RUNS).where(RUNS.c.id == run).with_for_update()).one_or_none()
            if row is None or row.state not in UNFINISHED:
                raise ConfigError(
                    "no such run is in the response store" if row is None else f"the run is {row.state}",
                    expected="an unfinished run",
                    remedy="`contrapose resume` lists them; a new run asks nothing twice that was answered.",
                    where=run,
                )
            over = gone(row.owner) or (retried and here(row.owner))
            alive = row.seen > time.time() - ALIVE_SECONDS and not over
            if row.state == "running" and alive:
                raise GoingOnError(
                    "the run is going on in another process",
                    expected="a run that has ended",
                    remedy=f"Wait for it, or end it; after {ALIVE_SECONDS:.0f} s of silence it counts as ended.",
                    where=run,
                )
            # It will find what it had asked for itself, which it has counted as answers.
            hits = -row.answers
            values = {"state": "running", "seen": time.time(), "hits": hits, "owner": new_owner()}
            connection.execute(update(RUNS).where(RUNS.c.id == run).values(**values))
            self.record(connection, change("runs", "id", [run], **values))

    def take_over(self, run: str) -> bool:
        """Note that a run that is tried again goes on, in this process, once the earlier attempt has ended.

        Returns:
            Whether it does; False where that attempt has brought it to its end meanwhile.

        Raises:
            GoingOnError: that one still works on it.
        """
        end = time.monotonic() + ALIVE_SECONDS + LOOK_SECONDS
        while True:
            try:
                self.again(run, retried=True)
                return True
            except GoingOnError:
                if time.monotonic() > end:
                    raise
            except ConfigError:
                return False
            time.sleep(LOOK_SECONDS)

    @contextmanager
    def alive(self, run: str) -> Iterator[None]:
        """Give signs of life of a run meanwhile, whatever it does, as long as it is this process's."""
        with pulse(partial(self._beat, run, self._owner(run)), every=PULSE_SECONDS):
            yield

    def confirm(self, run: str) -> None:
        """See that a run is still this process's, before what it found is published.

        Raises:
            GoingOnError: another process has taken it over, since this one gave no sign of life.
        """
        owner = self._owner(run)
        if owner and not here(owner):
            raise GoingOnError(
                "another process has taken the run over",
                expected=f"a sign of life every {ALIVE_SECONDS:.0f} s",
                remedy="Nothing is left to do here: the other process publishes the run.",
                where=run,
            )

    @patient
    def add_hits(self, run: str, count: int) -> None:
        """Note answers that a run found in the store."""
        with self.engine.begin() as connection:
            counted = update(RUNS).where(RUNS.c.id == run).values(hits=RUNS.c.hits + count, seen=time.time())
            hits = connection.execute(counted.returning(RUNS.c.hits)).scalar()
            self.record(connection, change("runs", "id", [run], hits=hits))

    @patient
    def end(self, run: str, state: State) -> None:
        """Note that a run came to its end; older unfinished ones that asked for the same are superseded."""
        with self.engine.begin() as connection:
            values = {"state": state, "seen": time.time()}
            connection.execute(update(RUNS).where(RUNS.c.id == run).values(**values))
            self.record(connection, change("runs", "id", [run], **values))
        if state == "finished":
            same = select(RUNS.c.config).where(RUNS.c.id == run).scalar_subquery()
            here = select(RUNS.c.folder).where(RUNS.c.id == run).scalar_subquery()
            older = RUNS.c.state.in_(UNFINISHED)
            silent = RUNS.c.seen < time.time() - ALIVE_SECONDS
            others = update(RUNS).where(RUNS.c.config == same, RUNS.c.folder == here, RUNS.c.id != run, older, silent)
            with self.engine.begin() as connection:
                ids = connection.execute(others.values(state="superseded").returning(RUNS.c.id)).scalars().all()
                if ids:
                    self.record(connection, change("runs", "id", ids, state="superseded"))

    @patient
    def get(self, run: str) -> RunRow | None:
        """A run; None where there is no such run."""
        with self.reading.begin() as connection:
            row = connection.execute(select(RUNS).where(RUNS.c.id == run)).one_or_none()
            return None if row is None else RunRow(**row._mapping, reading=_reading(connection, run))

    @patient
    def latency(self, run: str) -> dict[float, float]:
        """Seconds at some percentiles of the latencies of a run's answers; a million answers take seconds to read."""
        with self.reading.begin() as connection:
            return percentiles(connection, run, SHARES)

    @patient
    def latest(self, most: int) -> list[tuple[str, str]]:
        """Ids and configurations of the runs that were seen last, the latest first."""
        wanted = select(RUNS.c.id, RUNS.c.config).order_by(RUNS.c.seen.desc()).limit(most)
        with self.reading.begin() as connection:
            return [(row.id, row.config) for row in connection.execute(wanted)]

    @patient
    def spent(self, run: str) -> Usage:
        """What a run has spent so far; nothing where there is no such run."""
        wanted = select(RUNS.c.requests, RUNS.c.prompt_tokens, RUNS.c.completion_tokens).where(RUNS.c.id == run)
        with self.reading.begin() as connection:
            row = connection.execute(wanted).one_or_none()
            return Usage() if row is None else Usage(calls=row[0], prompt_tokens=row[1], completion_tokens=row[2])

    @patient
    def read(self, run: str) -> Taken:
        """What the reader of a run has spent so far; nothing where it has none."""
        with self.reading.begin() as connection:
            return _reading(connection, run)

    @patient
    def unfinished(self) -> Sequence[RunRow]:
        """Runs that did not come to their end, the newest first; those that seem to be running are among them."""
        wanted = select(RUNS).where(RUNS.c.state.in_(UNFINISHED)).order_by(RUNS.c.started.desc())
        with self.reading.begin() as connection:
            return [RunRow(**row._mapping) for row in connection.execute(wanted)]

    @patient
    def _owner(self, run: str) -> str:
        """Who works on a run; empty where the store does not know it any more."""
        with self.reading.begin() as connection:
            return connection.execute(select(RUNS.c.owner).where(RUNS.c.id == run)).scalar() or ""

    @patient
    def _beat(self, run: str, owner: str) -> None:
        own = (RUNS.c.id == run, RUNS.c.owner == owner, RUNS.c.state == "running")
        with self.engine.begin() as connection:
            connection.execute(update(RUNS).where(*own).values(seen=time.time()))


def _reading(connection: Connection, run: str) -> Taken:
    columns = [READINGS.c[column.name] for column in fields(Taken)]
    row = connection.execute(select(*columns).where(READINGS.c.run == run)).one_or_none()
    return Taken() if row is None else Taken(**row._mapping)


MOST = 5
"""Calls of each kind."""

TOKENS = Price(input=1_000_000, output=1_000_000)
"""What makes every token count the same."""


class CallTable(StorePart):
    """Calls in a database."""

    @patient
    def most(self, run: str, *, prices: Mapping[str, Price | None]) -> Calls:
        """The slowest and the dearest calls among those that a run made itself.

        Args:
            run: its id.
            prices: of each model's tokens, by its id; where one is unknown, or all are free, the dearest calls took
                most tokens.
        """
        wanted = union_all(_greatest(run, "slowest", ANSWERS.c.seconds), _greatest(run, "dearest", _weight(prices)))
        columns = (
            ANSWERS.c.model,
            ANSWERS.c.question,
            ANSWERS.c.seconds,
            ANSWERS.c.prompt_tokens,
            ANSWERS.c.completion_tokens,
        )
        greatest = wanted.subquery()
        whole = select(greatest.c.kind, greatest.c.weight, *columns).join(ANSWERS, ANSWERS.c.key == greatest.c.key)
        with self.reading.begin() as connection:
            rows = connection.execute(whole.order_by(greatest.c.weight.desc(), ANSWERS.c.key)).all()
        slowest, dearest = (
            tuple(_call(row, prices.get(row.model)) for row in rows if row.kind == kind)
            for kind in ("slowest", "dearest")
        )
        return Calls(slowest=slowest, dearest=dearest)


def _greatest(run: str, kind: str, weight: ColumnElement[Any]) -> Any:
    """Keys only: the database then sorts no prompts."""
    columns = (literal(kind).label("kind"), ANSWERS.c.key, weight.label("weight"))
    ordered = select(*columns).where(ANSWERS.c.run == run).order_by(weight.desc(), ANSWERS.c.key).limit(MOST)
    # SQLite takes an order and a limit inside a union only where they stand in a query of their own.
    return select(ordered.subquery())


def _weight(prices: Mapping[str, Price | None]) -> ColumnElement[Any]:
    known = {model: price for model, price in prices.items() if price is not None}
    if len(known) < len(prices) or not any(price.input or price.output for price in known.values()):
        return _cost(TOKENS)
    return case(*((ANSWERS.c.model == model, _cost(price)) for model, price in known.items()), else_=0)


def _cost(price: Price) -> ColumnElement[Any]:
    return ANSWERS.c.prompt_tokens * price.input + ANSWERS.c.completion_tokens * price.output


def _call(row: Any, price: Price | None) -> Call:
    usage = Usage(calls=1, prompt_tokens=row.prompt_tokens, completion_tokens=row.completion_tokens)
    return Call(
        prompt=str(json.loads(row.question)["prompt"]),
        seconds=row.seconds,
        prompt_tokens=row.prompt_tokens,
        completion_tokens=row.completion_tokens,
        cost=None if price is None else price.of(usage),
    )
