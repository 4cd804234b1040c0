"""Many mutants of functions from one process that has collected all tests: each costs a fork and the tests themselves.

In the forked process the code of the changed functions is exchanged where they stand. What runs when a module is
imported cannot be tried so, nor what has been called, or kept, while tests were collected: whatever survives here is
tried again with its modules imported anew (bench/mutation_worker.py).
"""

from __future__ import annotations

import ast
import gc
import json
import os
import tempfile
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from bench.mutation_worker import LONGEST, OPTIONS, SPARE, NoServer, limit, limits, run_apart

Exchange = tuple[types.FunctionType, types.CodeType]


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One mutant to try."""

    number: int
    file: Path
    before: Callable[[], ast.Module]
    after: Callable[[], ast.Module]
    tests: Mapping[str, float]
    """Node ids, in their order, and seconds that each takes without a change."""


class _Loop:
    """Runs the chosen tests of every mutant in place of all tests."""

    def __init__(self, jobs: Sequence[Job], answers: Path) -> None:
        self.jobs, self.answers = jobs, answers

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Try each of them, and tell what came of it."""
        trials = _Trials(session)
        gc.freeze()
        for job in self.jobs:
            self._tell({"number": job.number, "outcome": trials.outcome(job)})
        self._tell({"failing": sorted(test for test, passes in trials.passing.items() if not passes)})
        return True

    def _tell(self, answer: object) -> None:
        with self.answers.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(answer) + "\n")


def try_jobs(tests: Sequence[str], jobs: Sequence[Job], *, without: str) -> Iterator[dict[str, object]]:
    """What came of each job, as soon as it is known: `number` and `outcome`; last, `failing` tests as things are."""
    with tempfile.TemporaryDirectory() as folder:
        answers = Path(folder) / "answers.jsonl"
        answers.touch()
        loop = _Loop(jobs, answers)
        chosen = [*tests, *OPTIONS, *(("-k", without) if without else ())]
        child = run_apart(lambda: int(pytest.main(chosen, plugins=[NoServer(), loop])))
        with answers.open(encoding="utf-8") as lines:
            for _ in child:
                for line in lines:
                    yield json.loads(line)


def _functions() -> dict[str, list[types.FunctionType]]:
    """The functions there are, by the file that they come from."""
    found: dict[str, list[types.FunctionType]] = {}
    # Who froze what there was at the start has it left out of what is listed.
    gc.unfreeze()
    for each in gc.get_objects():
        if type(each) is types.FunctionType:
            found.setdefault(each.__code__.co_filename, []).append(each)
    return {os.path.realpath(name): each for name, each in found.items()}


class _Trials:
    """Runs of tests in forked processes."""

    def __init__(self, session: pytest.Session) -> None:
        self.session = session
        self.items = {item.nodeid: item for item in session.items}
        self.alive = _functions()
        self.passing: dict[str, bool] = {}
        """Of tests that noticed something, whether they pass as things are."""

    def outcome(self, job: Job) -> str:
        """What becomes of a mutant; a test that fails anyway notices nothing."""
        exchanged = _exchanges(job, self.alive)
        tests = {test: seconds for test, seconds in job.tests.items() if test in self.items}
        while exchanged:
            tests = {test: seconds for test, seconds in tests.items() if self.passing.get(test, True)}
            outcome, noticed = self._run(tests, exchanged) if tests else ("not tried", "")
            if outcome != "killed" or self._passes(noticed, tests[noticed]):
                return outcome
        return "not tried"

    def _passes(self, test: str, seconds: float) -> bool:
        if test not in self.passing:
            self.passing[test] = self._run({test: seconds}, [])[0] == "survived"
        return self.passing[test]

    def _run(self, tests: Mapping[str, float], exchanged: Sequence[Exchange]) -> tuple[str, str]:
        """What becomes of these tests, and the first that fails."""
        with tempfile.TemporaryDirectory() as folder:
            noticed = Path(folder) / "noticed"
            cpu = 2 * SPARE + LONGEST * sum(tests.values())
            code = limits(lambda: self._work(tests, exchanged, noticed), seconds=4 * cpu, cpu=cpu)
            outcome = {0: "survived", 1: "killed", None: "timeout"}.get(code, "error")
            return outcome, noticed.read_text(encoding="utf-8") if outcome == "killed" else ""

    def _work(self, tests: Mapping[str, float], exchanged: Sequence[Exchange], noticed: Path) -> int:
        _move_in(self.session)
        for function, code in exchanged:
            function.__code__ = code
        items = [self.items[test] for test in tests]
        for item, following in zip(items, [*items[1:], None], strict=True):
            limit(item, tests[item.nodeid])
            self.session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self.session.testsfailed:
                noticed.write_text(item.nodeid, encoding="utf-8")
                return 1
        return 0


def _move_in(session: pytest.Session) -> None:
    """Have temporary folders, and a home, of this process alone."""
    folder = Path(tempfile.gettempdir())
    session.config._tmp_path_factory._basetemp = folder  # type: ignore[attr-defined]
    models = Path(os.environ["CONTRAPOSE_HOME"]) / "models"
    home = folder / "home"
    home.mkdir()
    (home / "models").symlink_to(models)
    os.environ["CONTRAPOSE_HOME"] = str(home)


def _exchanges(job: Job, alive: Mapping[str, list[types.FunctionType]]) -> list[Exchange]:
    """Functions, and the code that they are to have; none where the change cannot be made so."""
    before, after = (list(_codes(_compiled(tree(), job.file))) for tree in (job.before, job.after))
    if len(before) != len(after):
        return []
    changed = [(old, new) for old, new in zip(before, after, strict=True) if old != new]
    found = []
    for function in alive.get(os.path.realpath(job.file), []):
        for old, new in changed:
            if function.__code__ == old:
                if len(old.co_freevars) != len(new.co_freevars):
                    return []
                found.append((function, new))
    return found


def _compiled(tree: ast.Module, file: Path) -> types.CodeType:
    return compile(ast.fix_missing_locations(tree), str(file), "exec", dont_inherit=True)


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for each in code.co_consts:
        if isinstance(each, types.CodeType):
            yield from _codes(each)
