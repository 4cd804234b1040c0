"""One mutant in a process of its own: the libraries are there already, our own modules are imported again, one changed.

The processes are forked from one that has imported the libraries, and forgotten our modules: a mutant then costs what
importing ours costs (0.3 s), and the tests that it takes to notice it. A change in memory leaves the files alone.
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
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

OURS = ("contrapose", "conftest", "tests")
OPTIONS = ("-q", "-x", "-p", "no:cacheprovider", "-W", "ignore::pytest.PytestAssertRewriteWarning", "--hypothesis-seed=0")
LONGEST = 8.0
"""Times as long as the tests took without a change, after which a mutant counts as noticed."""
SPARE = 20.0
"""Seconds that any mutant may take besides."""


@dataclass(slots=True)
class Covered:
    """What the tests of a package run through."""

    seconds: dict[str, float] = field(default_factory=dict)
    """By test, while every line is noted."""
    lines: dict[str, dict[str, set[int]]] = field(default_factory=dict)
    """Of each test, by file below the root."""
    failed: list[str] = field(default_factory=list)
    """Tests that do not pass as things are; they notice nothing."""
    modules: list[str] = field(default_factory=list)
    """Libraries that they import."""

    def noticing(self, file: str, lines: range, *, everywhere: bool, most: float) -> list[str]:
        """The tests that may notice a change: those that run these lines, then others of that file, shortest first."""
        near = {test for test, files in self.lines.items() if file in files}
        inside = {test for test in near if not everywhere and self.lines[test][file].intersection(lines)}
        rest = set(self.seconds) - near if everywhere else set()
        chosen: list[str] = []
        spent = 0.0
        for group in (inside, near - inside, rest):
            for test in sorted(group - set(self.failed), key=lambda each: (self.seconds[each], each)):
                spent += self.seconds[test]
                if chosen and spent > most:
                    return chosen
                chosen.append(test)
        return chosen


class _Chosen:
    """Runs the chosen tests, in this order."""

    def __init__(self, tests: Sequence[str]) -> None:
        self.places = {test: place for place, test in enumerate(tests)}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Keep what was chosen."""
        items[:] = sorted((each for each in items if each.nodeid in self.places), key=lambda x: self.places[x.nodeid])


class _Tracer:
    """Notes which lines below a folder each test runs through."""

    def __init__(self, root: Path, package: str) -> None:
        self.root, self.package = root.resolve(), package
        self.found = Covered()
        self.files: dict[str, str | None] = {}
        self.current: dict[str, set[int]] = {}

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Note lines while a test runs with its fixtures."""
        self.current = self.found.lines.setdefault(item.nodeid, {})
        threading.settrace(self.trace)
        sys.settrace(self.trace)
        start = time.perf_counter()
        yield
        sys.settrace(None)
        self.found.seconds[item.nodeid] = time.perf_counter() - start

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
            tracer = _Tracer(root, package)
            options = [each for each in OPTIONS if each != "-x"]
            code = pytest.main([*tests, *options, "-k", without], plugins=[tracer])
            answer.write_text(_packed(tracer.found), encoding="utf-8")
            return int(code)

        code = _forked(work, seconds=3600, cpu=3600)
        if not answer.is_file():
            raise SystemExit(f"the tests of {package} ended with {code} before they had run; run them by themselves")
        return _unpacked(answer.read_text(encoding="utf-8"))


def preload(modules: Sequence[str]) -> None:
    """Import the libraries, and forget what is ours."""
    for name in modules:
        try:
            importlib.import_module(name)
        except Exception:  # noqa: BLE001, PERF203  # whatever a library's inner module asks for, it is not needed here
            continue
    for name in [each for each in sys.modules if is_ours(each)]:
        del sys.modules[name]


def is_ours(module: str) -> bool:
    """Whether a module is of this repository."""
    return module.split(".")[0] in OURS


def try_mutant(module: str, file: Path, tree: ast.Module, tests: Sequence[str], *, seconds: float) -> str:
    """Run tests on a changed module.

    Args:
        module: its name.
        file: where it lies.
        tree: what it is changed to.
        tests: node ids, in their order.
        seconds: that they take without a change.

    Returns:
        `killed`, `timeout`, `survived`, or `error` where the tests could not be run at all.
    """

    def work() -> int:
        sys.meta_path.insert(0, _Mutated(module, file, tree))
        files = sorted({test.split("::")[0] for test in tests})
        return int(pytest.main([*files, *OPTIONS], plugins=[_Chosen(tests)]))

    cpu = SPARE + LONGEST * seconds
    code = _forked(work, seconds=3 * cpu, cpu=cpu)
    return {0: "survived", 1: "killed", 2: "killed", 4: "killed", None: "timeout"}.get(code, "error")


def _forked(work: Callable[[], int], *, seconds: float, cpu: float) -> int | None:
    """What work in a process of its own returns; None where it took too long, or was ended by a signal."""
    folder = tempfile.mkdtemp(prefix="mutant-")
    child = os.fork()
    if not child:
        _become(folder, cpu)
        code = 2
        try:
            code = work()
        finally:
            os._exit(code)
    try:
        return _awaited(child, time.monotonic() + seconds)
    finally:
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


def _awaited(child: int, end: float) -> int | None:
    while time.monotonic() < end:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            _end_group(child)
            return os.WEXITSTATUS(status) if os.WIFEXITED(status) else None
        time.sleep(0.01)
    _end_group(child)
    os.waitpid(child, 0)
    return None


def _end_group(child: int) -> None:
    """End what a mutant may have started, and it itself."""
    try:
        os.killpg(child, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


def _packed(found: Covered) -> str:
    lines = {test: {file: sorted(each) for file, each in files.items()} for test, files in found.lines.items()}
    modules = [name for name in sys.modules if not is_ours(name) and not name.startswith("test_")]
    return json.dumps({"seconds": found.seconds, "failed": found.failed, "lines": lines, "modules": modules})


def _unpacked(text: str) -> Covered:
    found: Mapping[str, Any] = json.loads(text)
    lines = {test: {file: set(each) for file, each in files.items()} for test, files in found["lines"].items()}
    return Covered(seconds=found["seconds"], failed=found["failed"], lines=lines, modules=found["modules"])
