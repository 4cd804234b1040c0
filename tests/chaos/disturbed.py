"""Runs of the command that something disturbs, and what their endpoint and their response store know of them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from fake_endpoint import Endpoint, Request
from prefect.settings import PREFECT_API_URL

from contrapose.tasks.store.receipts import read_receipts

IN_FLIGHT = 4
"""Requests of a run at a time."""
LONGEST = 600.0
"""Seconds that a run may take on a busy machine, however it ends."""
WITHOUT_PRIVILEGE = ("setpriv", "--bounding-set=-dac_override,-dac_read_search", "--") if os.geteuid() == 0 else ()
"""Before a command: modes of files count for root, too."""


class Ended(NamedTuple):
    """How a run ended."""

    code: int
    said: list[str]
    """What the command said to people, line by line."""
    written: str
    """All that it wrote to standard error."""
    seconds: float


@dataclass(frozen=True, kw_only=True)
class Run:
    """A run that can be started again and again, as a user would."""

    endpoint: Endpoint
    home: Path
    out: Path
    store: str = ""
    """Address of the response store; empty: SQLite in the home."""
    tests: tuple[str, ...] = ("order_bias",)
    limit: int | None = 60
    options: tuple[str, ...] = ()
    """Further words of the command."""
    before: tuple[str, ...] = ()
    """Words before the command."""
    environment: Mapping[str, str] = field(default_factory=dict)

    def command(self) -> list[str]:
        """What is typed."""
        return ["run", *self.configuration(), "--exit-zero", "--quiet", "--out", str(self.out), *self.options]

    def configuration(self) -> list[str]:
        """Words that say what is asked."""
        return [
            *("--model", "openai/any", "--suite", "full"),
            *(word for test in self.tests for word in ("--test", test)),
            *(() if self.limit is None else ("--limit", str(self.limit))),
            *("--set", f"model_args.base_url=http://127.0.0.1:{self.endpoint.port}/v1", "--set", "noise=0"),
            *("--set", f"model_args.concurrency={IN_FLIGHT}"),
        ]

    def start(self, *words: str) -> subprocess.Popen[str]:
        """Start it, or another command, in a process group of its own; its temporary files are next to its results."""
        temporary = self.out.parent / "temporary"
        temporary.mkdir(parents=True, exist_ok=True)
        own = {
            "CONTRAPOSE_HOME": str(self.home),
            "CONTRAPOSE_STORE": self.store,
            "PREFECT_API_URL": str(PREFECT_API_URL.value()),
            "TMPDIR": str(temporary),
        }
        return subprocess.Popen(
            [*self.before, sys.executable, "-m", "contrapose.flows.cli", *(words or self.command())],
            env={**os.environ, **own, **self.environment},
            start_new_session=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )

    def ended(self, process: subprocess.Popen[str] | None = None) -> Ended:
        """Start it, or go on with a process of it, and wait for its end."""
        began = time.monotonic()
        process = process or self.start()
        try:
            _, written = process.communicate(timeout=LONGEST)
        finally:
            kill(process)
        said = [line.removeprefix("contrapose: ") for line in written.splitlines() if line.startswith("contrapose: ")]
        return Ended(code=process.returncode, said=said, written=written, seconds=time.monotonic() - began)

    def start_asking(self, count: int, *, delay: float = 0.2) -> subprocess.Popen[str]:
        """Start it with a slow endpoint, and wait until that had some requests."""
        self.endpoint.delay = delay
        process = self.start()
        self.until_asked(process, count=count)
        return process

    def until_asked(self, process: subprocess.Popen[str], *, count: int = 1) -> None:
        """Wait until a process of it has made some more requests."""
        before = len(self.endpoint.requests)
        while len(self.endpoint.requests) < before + count:
            assert process.poll() is None, f"it had ended before it was disturbed: {self.ended(process)}"
            time.sleep(0.01)

    def stored(self) -> set[str]:
        """The prompts whose answers are in the store, or have a receipt that it reads when it is opened next."""
        kept = {str(json.loads(question)["prompt"]) for question in self._column("SELECT question FROM answers")}
        for file in (*self.home.glob("*.receipts/*.jsonl"), *self._file.parent.glob("*.receipts/*.jsonl")):
            receipts = (receipt.content or {} for receipt in read_receipts(file))
            kept |= {str(one["row"]["question"]["prompt"]) for one in receipts if one.get("table") == "answers"}
        return kept

    def claimed(self) -> int:
        """How many questions somebody has taken for his own."""
        return len(self._column("SELECT key FROM claims"))

    def _column(self, statement: str) -> Sequence[str]:
        """A column of a table of the store, which must be sound; empty where there is none yet."""
        from sqlalchemy import create_engine, inspect, text
        from sqlalchemy.pool import NullPool

        if not self.store.startswith("postgresql") and not self._file.is_file():
            return []
        engine = create_engine(self.store or f"sqlite:///{self._file}", poolclass=NullPool)
        with engine.connect() as connection:
            if engine.dialect.name == "sqlite":
                assert connection.execute(text("PRAGMA integrity_check")).scalar() == "ok"
            if not inspect(connection).has_table("answers"):
                return []
            return connection.execute(text(statement)).scalars().all()

    @property
    def _file(self) -> Path:
        """File of a SQLite store."""
        return Path(self.store.removeprefix("sqlite:///")) if self.store else self.home / "answers.sqlite3"

    def results(self) -> pa.Table:
        """The rows of its newest folder; what the file says of the model names the port of its endpoint."""
        return pq.read_table(self.newest / "results.parquet").replace_schema_metadata()

    def outcomes(self) -> list[dict[str, object]]:
        """What its newest folder says of each test."""
        tests: list[dict[str, object]] = json.loads((self.newest / "summary.json").read_text())["tests"]
        return tests

    @property
    def newest(self) -> Path:
        return max(self.out.glob("[!.]*"), key=lambda folder: folder.stat().st_mtime_ns)


def kill(process: subprocess.Popen[str]) -> float:
    """End a run and all that it started at once; when."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return time.monotonic()


def asked_twice(requests: list[Request]) -> Counter[str]:
    """How often each prompt was asked again."""
    return Counter(
        {prompt: count - 1 for prompt, count in Counter(each.prompt for each in requests).items() if count > 1}
    )


def in_flight(requests: list[Request], moment: float) -> int:
    """How many requests had come at a moment, and not been answered."""
    return sum(each.came <= moment < each.left for each in requests)


def until(happened: Callable[[], object], *, seconds: float = 120) -> None:
    """Wait for something."""
    end = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)


def one_line(ended: Ended, *names: str, codes: tuple[int, ...] = (2, 4)) -> str:
    """What a run said that could not come to its end: one clear line.

    Args:
        ended: how it ended.
        names: one of these the line must name.
        codes: exit codes of which it must have one: none of a verdict.
    """
    assert "Traceback" not in ended.written, ended.written
    assert ended.code in codes, ended
    assert len(ended.said) == 1, ended
    (line,) = ended.said
    assert "; expected " in line, line
    assert any(name.lower() in line.lower() for name in names), line
    return line
