"""One mutant in a process of its own: the libraries are there already, our own modules are imported again, one changed.

The processes are forked from one that has imported everything but the tests. Each forgets the module that is changed
and those that import it, and imports them anew: a mutant then costs half a second, and the tests that it takes to
notice it. A change in memory leaves the files alone.
"""

from __future__ import annotations

import ast
import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import resource
import shutil
import signal
import sys
import tempfile
import threading
import time
import types
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest

OURS = "contrapose."
OPTIONS = (
    "-q",
    "-x",
    "-p",
    "no:cacheprovider",
    "-W",
    "ignore::pytest.PytestAssertRewriteWarning",
    "--hypothesis-seed=0",
)
LONGEST = 4.0
"""Times as long as a test took without a change, after which a mutant counts as noticed."""
MANY = 200
"""Calls in one test after which a function counts as run through in every line: noting each takes too long."""
SPARE = 8.0
"""Seconds that a test may take besides."""
FEW = 10
"""Tests that run a line, below which others are tried too: what a cache keeps is run by the first that asks alone."""


@dataclass(slots=True)
class Covered:
    """What the tests of a package run through."""

    seconds: dict[str, float] = field(default_factory=dict)
    """By test, while no line is noted: that alone takes ten times as long."""
    lines: dict[str, dict[str, set[int]]] = field(default_factory=dict)
    """Of each test, by file below the root."""
    failed: list[str] = field(default_factory=list)
    """Tests that do not pass as things are; they notice nothing."""
    modules: list[str] = field(default_factory=list)
    """Libraries that they import."""
    users: dict[str, set[str]] = field(default_factory=dict)
    """By file, the files of the package that import it, be it at their top or in a function."""

    def noticing(self, file: str, lines: range, *, everywhere: bool, most: float) -> dict[str, float]:
        """The tests that may notice a change: those that run these lines; fewer than `FEW`, then any that run the file.

        What is set at import is at work in whoever imports it as well: the tests of these come last. A file of tables
        alone is run through by no test at all.

        First come those that run through the fewest files, which know most about each, and of them the shortest.
        """
        near = {test for test, files in self.lines.items() if file in files}
        inside = {test for test in near if not everywhere and self.lines[test][file].intersection(lines)}
        if everywhere:
            # What is set at import may be asked for by a test that runs through nothing.
            inside = self._beside(near)
            using = self.users.get(file, set())
            near = self._beside(test for test, files in self.lines.items() if using.intersection(files)) | inside
        asked = (near if everywhere or len(inside) < FEW else inside) - set(self.failed)
        chosen: dict[str, float] = {}
        for test in sorted(asked, key=lambda each: (each not in inside, self._place(each, everywhere))):
            if chosen and sum(chosen.values()) + self.seconds[test] > most:
                return chosen
            chosen[test] = self.seconds[test]
        return chosen

    def _beside(self, tests: Iterable[str]) -> set[str]:
        """All tests of the files that hold any of these."""
        files = set(_files(tests))
        return {test for test in self.seconds if test.split("::")[0] in files}

    def _place(self, test: str, everywhere: bool) -> tuple[float, float, str]:
        return (0 if everywhere else len(self.lines[test])), self.seconds[test], test


class NoServer:
    """Leaves tests out that start a database server, which each process would do for itself."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Keep the others."""
        items[:] = [each for each in items if not starts_a_server(each)]


def starts_a_server(item: pytest.Item) -> bool:
    """Return whether a test is about PostgreSQL, as a fixture or a parameter says."""
    chosen = getattr(item, "callspec", None)
    # An array compares its members, which are neither true nor false together.
    words = [value for value in chosen.params.values() if isinstance(value, str)] if chosen else []
    return "postgres_url" in getattr(item, "fixturenames", ()) or "postgres" in words


class _Chosen:
    """Runs the chosen tests, in this order, none of them for long, and notes which of them fails."""

    def __init__(self, tests: Mapping[str, float], noticed: Path) -> None:
        self.tests, self.noticed = tests, noticed
        self.places = {test: place for place, test in enumerate(tests)}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Keep what was chosen."""
        items[:] = sorted((each for each in items if each.nodeid in self.places), key=lambda x: self.places[x.nodeid])
        for each in items:
            limit(each, self.tests[each.nodeid])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note what does not pass."""
        if report.failed:
            self.noticed.write_text(report.nodeid, encoding="utf-8")


def limit(item: pytest.Item, seconds: float) -> None:
    """Let a test take a few times as long as usual; what it shares with others is started by whichever comes first."""
    item.add_marker(pytest.mark.timeout(SPARE + LONGEST * seconds, func_only=True))


class _Clock:
    """Notes how long each test takes."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Note the time of a test with its fixtures."""
        start = time.perf_counter()
        yield
        self.seconds[item.nodeid] = time.perf_counter() - start


class _Tracer:
    """Notes which lines below a folder each test runs through."""

    def __init__(self, root: Path, package: str) -> None:
        self.root, self.package = root.resolve(), package
        self.found = Covered()
        self.files: dict[str, str | None] = {}
        self.current: dict[str, set[int]] = {}
        self.calls: Counter[types.CodeType] = Counter()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Note lines while a test runs with its fixtures."""
        self.current = self.found.lines.setdefault(item.nodeid, {})
        self.calls.clear()
        threading.settrace(self.trace)
        sys.settrace(self.trace)
        yield
        sys.settrace(None)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note what does not pass."""
        if report.failed:
            self.found.failed.append(report.nodeid)

    def trace(self, frame: types.FrameType, event: str, argument: Any) -> Callable[..., Any] | None:
        """For a function of the package: the same, line by line."""
        name = frame.f_code.co_filename
        if name not in self.files:
            self.files[name] = self._below(name)
        file = self.files[name]
        if file is None:
            return None
        lines = self.current.setdefault(file, set())
        self.calls[frame.f_code] += 1
        if self.calls[frame.f_code] > MANY:
            if self.calls[frame.f_code] == MANY + 1:
                lines.update(line for _, _, line in frame.f_code.co_lines() if line)
            return None
        lines.add(frame.f_lineno)

        def local(frame: types.FrameType, event: str, argument: Any) -> Any:
            lines.add(frame.f_lineno)
            return local

        return local

    def _below(self, name: str) -> str | None:
        try:
            file = str(Path(name).resolve().relative_to(self.root))
        except ValueError:
            return None
        return file if file.startswith(self.package + "/") else None


class _Mutated(importlib.abc.MetaPathFinder):
    """Finds one module changed."""

    def __init__(self, name: str, file: Path, tree: ast.Module) -> None:
        self.name, self.file = name, file
        self.code = compile(ast.fix_missing_locations(tree), str(file), "exec", dont_inherit=True)

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        """The changed module, where it is asked for."""
        if fullname != self.name:
            return None
        code = self.code

        class Loader(importlib.machinery.SourceFileLoader):
            def get_code(self, fullname: str) -> types.CodeType:
                return code

        folders = [str(self.file.parent)] if self.file.name == "__init__.py" else None
        loader = Loader(fullname, str(self.file))
        return importlib.util.spec_from_file_location(
            fullname, self.file, loader=loader, submodule_search_locations=folders
        )


def cover(root: Path, package: str, tests: Sequence[str], *, without: str) -> Covered:
    """Run all tests of a package in a process of their own, and note which lines each runs through."""
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "covered.json"

        def work() -> int:
            tracer, clock = _Tracer(root, package), _Clock()
            options = [*tests, *(each for each in OPTIONS if each != "-x"), *(("-k", without) if without else ())]
            code = pytest.main(options, plugins=[NoServer(), tracer])
            # Only now: what is kept from the first time would not be run through again.
            pytest.main(options, plugins=[NoServer(), clock])
            tracer.found.users = users(root, package)
            tracer.found.seconds = {test: clock.seconds.get(test, 0.0) for test in tracer.found.lines}
            answer.write_text(_packed(tracer.found), encoding="utf-8")
            return int(code)

        code = limits(work, seconds=3600, cpu=3600)
        if not answer.is_file():
            raise SystemExit(f"the tests of {package} ended with {code} before they had run; run them by themselves")
        return _unpacked(answer.read_text(encoding="utf-8"))


def preload(modules: Sequence[str]) -> None:
    """Import what the tests import, but for the tests and what stands beside them."""
    for name in modules:
        try:
            importlib.import_module(name)
        except Exception:  # whatever a library's inner module asks for, it is not needed here
            continue


def is_a_test(name: str, module: types.ModuleType | None) -> bool:
    """Whether a module is a test, or its helper."""
    file = getattr(module, "__file__", None) or ""
    return name.split(".")[0] in ("conftest", "tests") or "/tests/" in file.removeprefix(sys.prefix)


@cache
def dependents(module: str) -> frozenset[str]:
    """A module of ours, those that import it when they are imported themselves, and what lies below any of these."""
    imported = _imports()
    found, new = {module}, {module}
    while new:
        new = {name for name, needed in imported.items() if name not in found and not needed.isdisjoint(new)}
        found |= new
    return frozenset(found)


@cache
def _imports() -> dict[str, set[str]]:
    """By module of ours what it imports at its top; its packages count, since their attributes name it."""
    found = {}
    for name, module in list(sys.modules.items()):
        if name.startswith(OURS) and module is not None and (file := getattr(module, "__file__", None)):
            parts = name.split(".")
            packages = {".".join(parts[:number]) for number in range(2, len(parts))}
            found[name] = packages | set(_named_in(ast.parse(Path(file).read_text(encoding="utf-8"))))
    return found


def users(root: Path, package: str) -> dict[str, set[str]]:
    """By file of a package those of its files that import it anywhere."""
    files = [str(file.relative_to(root)) for file in (root / package).rglob("*.py")]
    by_module = {module_of(file): file for file in files}
    found: dict[str, set[str]] = {}
    for user in files:
        for node in ast.walk(ast.parse((root / user).read_text(encoding="utf-8"))):
            for name in _named_in(ast.Module([node], [])) if isinstance(node, ast.Import | ast.ImportFrom) else ():
                if name in by_module:
                    found.setdefault(by_module[name], set()).add(user)
    return found


def module_of(file: str) -> str:
    """The name by which a file of ours is imported."""
    parts = Path(file).with_suffix("").parts
    return ".".join(("contrapose", *(part for part in parts if part != "__init__")))


def _named_in(tree: ast.AST) -> Iterator[str]:
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.Import):
            yield from (each.name for each in child.names)
        elif isinstance(child, ast.ImportFrom) and child.module:
            yield child.module
            yield from (f"{child.module}.{each.name}" for each in child.names)
        elif not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _named_in(child)


def _forget(module: str) -> None:
    for name in dependents(module):
        sys.modules.pop(name, None)
        package, _, last = name.rpartition(".")
        if package in sys.modules:
            vars(sys.modules[package]).pop(last, None)


def _files(tests: Iterable[str]) -> list[str]:
    return sorted({test.split("::")[0] for test in tests})


def try_mutant(module: str, file: Path, tree: ast.Module, tests: Mapping[str, float]) -> str:
    """Run tests on a changed module; one that fails on the module as it is, imported anew, notices nothing.

    Args:
        module: its name.
        file: where it lies.
        tree: what it is changed to.
        tests: node ids, in their order, and the seconds that each takes without a change.

    Returns:
        `killed`, `timeout`, `survived`, or `error` where the tests could not be run at all.
    """
    while tests:
        outcome, noticed = _run_anew(module, file, tree, tests)
        if outcome != "killed":
            return outcome
        if _passes_anew(module, file, noticed, tuple(_files(tests)), tests.get(noticed, 0.0)):
            return outcome
        if not noticed:
            return "error"
        tests = {test: seconds for test, seconds in tests.items() if test != noticed}
    return "survived"


@cache
def _passes_anew(module: str, file: Path, test: str, files: tuple[str, ...], seconds: float) -> bool:
    """Whether a test passes on a module as it is; of no test, whether these files can be imported."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    tests = {test: seconds} if test else {}
    return _run_anew(module, file, tree, tests, _files(tests) or files)[0] == "survived"


def _run_anew(
    module: str, file: Path, tree: ast.Module, tests: Mapping[str, float], files: Sequence[str] = ()
) -> tuple[str, str]:
    """What becomes of a module, and the test that failed; none where a file of tests cannot even be imported."""
    dependents(module)
    with tempfile.TemporaryDirectory() as folder:
        noticed = Path(folder) / "noticed"

        def work() -> int:
            _forget(module)
            sys.meta_path.insert(0, _Mutated(module, file, tree))
            return int(pytest.main([*(files or _files(tests)), *OPTIONS], plugins=[_Chosen(tests, noticed)]))

        cpu = 2 * SPARE + LONGEST * sum(tests.values())
        code = limits(work, seconds=3 * cpu, cpu=cpu)
        nothing = pytest.ExitCode.NO_TESTS_COLLECTED
        outcomes = {0: "survived", 1: "killed", 2: "killed", 4: "killed", None: "timeout"}
        outcome = "survived" if code == nothing and not tests else outcomes.get(code, "error")
        return outcome, noticed.read_text(encoding="utf-8") if noticed.is_file() else ""


def limits(work: Callable[[], int], *, seconds: float, cpu: float) -> int | None:
    """What work in a process of its own returns; None where it took too long, or was ended by a signal.

    Args:
        work: returns an exit status.
        seconds: that it may take.
        cpu: seconds of computing that it may take.
    """
    return list(run_apart(work, seconds=seconds, cpu=cpu))[-1]


def run_apart(work: Callable[[], int], *, seconds: float = 36_000, cpu: float = 36_000) -> Iterator[int | None]:
    """Do work in a process of its own; gives control back every moment, and last its exit status, or None."""
    folder = tempfile.mkdtemp(prefix="mutant-")
    child = os.fork()
    if not child:
        _become(folder, cpu)
        code = 2
        try:
            code = work()
        finally:
            os._exit(code)
    end, ended = time.monotonic() + seconds, 0
    try:
        while not ended and time.monotonic() < end:
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                yield os.WEXITSTATUS(status) if os.WIFEXITED(status) else None
            else:
                time.sleep(0.005)
                yield None
    finally:
        _end_group(child)
        if not ended:
            os.waitpid(child, 0)
        shutil.rmtree(folder, ignore_errors=True)


def _become(folder: str, cpu: float) -> None:
    """A process that says nothing, has a group and temporary files of its own, and an end."""
    os.setsid()
    silent = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2) if not os.environ.get("MUTATION_LOUD") else ():
        os.dup2(silent, stream)
    tempfile.tempdir = os.environ["TMPDIR"] = folder
    resource.setrlimit(resource.RLIMIT_CPU, (int(cpu) + 1, int(cpu) + 5))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _end_group(child: int) -> None:
    """End what a mutant may have started, and it itself."""
    try:
        os.killpg(child, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


def _packed(found: Covered) -> str:
    lines = {test: {file: sorted(each) for file, each in files.items()} for test, files in found.lines.items()}
    modules = [name for name, module in sys.modules.items() if not is_a_test(name, module)]
    users = {file: sorted(each) for file, each in found.users.items()}
    return json.dumps(
        {"seconds": found.seconds, "failed": found.failed, "lines": lines, "modules": modules, "users": users}
    )


def _unpacked(text: str) -> Covered:
    found: Mapping[str, Any] = json.loads(text)
    lines = {test: {file: set(each) for file, each in files.items()} for test, files in found["lines"].items()}
    return Covered(
        seconds=found["seconds"],
        failed=found["failed"],
        lines=lines,
        modules=found["modules"],
        users={file: set(each) for file, each in found["users"].items()},
    )
