"""Errors that people cause, and their remedies: each is provoked by its command, followed as its text says, and gone.

A case names the function that raises its error. `SITES` lists every function that does, from the source, so that the
share of errors whose remedy is followed can be counted.
"""

from __future__ import annotations

import ast
import functools
import re
import shlex
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, ParamSpec

import pytest
from places import REPOSITORY

from contrapose.flows.cli import main
from contrapose.tasks.core.errors import ContraposeError
from contrapose.tasks.load.rows import Problem

NO_ERROR = {"Check", "DoctorFinding", "type(self)", "type(errors[0])", "error.reworded", "other.reworded"}
"""Calls with a remedy that raise nothing of their own: lines of doctor, and copies of an error."""


@dataclass
class Attempt:
    """A command that fails, and what a person may change about it."""

    arguments: list[str]
    folder: Path
    error: str
    """The line that the command printed."""
    remedy: str
    """What it says behind `; expected … .`"""
    set_variable: Callable[[str, str], None]
    filled: Callable[[str], str]

    def replace(self, old: str, new: str) -> None:
        """Write `new` for `old`, in the command and in the suites of the folder."""
        old, new = self.filled(old), self.filled(new)
        assert old in " ".join((*self.arguments, *(path.read_text() for path in self.folder.rglob("*.yaml"))))
        if not any(old in word for word in self.arguments):
            # Several words of the command.
            line = "\0".join(self.arguments).replace(old.replace(" ", "\0"), new.replace(" ", "\0"))
            self.arguments = line.split("\0")
        self.arguments = [word.replace(old, new) for word in self.arguments]
        for path in self.folder.rglob("*.yaml"):
            path.write_text(path.read_text().replace(old, new))


Follow = Callable[[Attempt], None]


@dataclass(frozen=True, kw_only=True)
class Case:
    """An error with a remedy."""

    site: str
    """Where it is raised: `tasks/config/plan.py:plans`; empty: by a remedy that several errors share."""
    command: str
    """What is typed; `{…}` are values of the test's servers."""
    says: str
    """A part of the error that is gone once the remedy is followed."""
    follow: Follow
    files: Mapping[str, str | bytes] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    prepare: Callable[[Path], object] = lambda folder: None
    """What must be there before, made in the folder."""
    leads_to: str = ""
    """What the command says instead, where it comes to a later error; empty: it succeeds."""


def find_sites() -> Counter[str]:
    """Count the errors with a remedy of each function; one that is handed its remedy words none."""
    sites = Counter[str]()
    for path in sorted([*(REPOSITORY / "flows").rglob("*.py"), *(REPOSITORY / "tasks").rglob("*.py")]):
        if "remedy=" in (text := path.read_text()):
            _count_sites(ast.parse(text), str(path.relative_to(REPOSITORY)), "", frozenset(), sites)
    return sites


def _count_sites(node: ast.AST, path: str, function: str, given: frozenset[str], sites: Counter[str]) -> None:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        arguments = (*node.args.args, *node.args.kwonlyargs)
        function, given = node.name, frozenset(argument.arg for argument in arguments)
    if isinstance(node, ast.Call) and function and ast.unparse(node.func) not in NO_ERROR:
        remedy = next((keyword.value for keyword in node.keywords if keyword.arg == "remedy"), None)
        handed = isinstance(remedy, ast.Name) and remedy.id in given
        if remedy is not None and not handed and not ast.unparse(remedy).endswith((".remedy", "change(remedy)")):
            sites[f"{path}:{function}"] += 1
    for child in ast.iter_child_nodes(node):
        _count_sites(child, path, function, given, sites)


SITES = find_sites()


@contextmanager
def watch_sites() -> Iterator[list[str]]:
    """Yield a list that fills with the functions that raise an error, or find a problem of a row."""
    raised = list[str]()
    with ExitStack() as stack:
        for kind in (ContraposeError, Problem):
            stack.enter_context(_watch(kind, raised))
        yield raised


@contextmanager
def _watch(kind: type, raised: list[str]) -> Iterator[None]:
    own = kind.__init__

    def initialise(self: object, *arguments: Any, **others: Any) -> None:
        own(self, *arguments, **others)
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            # An editable install reaches the files by links.
            name = _resolve(frame.f_code.co_filename)
            if name.is_relative_to(REPOSITORY):
                site = f"{name.relative_to(REPOSITORY)}:{frame.f_code.co_name}"
                if site in SITES:
                    raised.append(site)
                    break
            frame = frame.f_back

    # Not by a fixture: one watch stands in another, and the inner one must end first.
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(kind, "__init__", initialise)
        yield


@functools.cache
def _resolve(file: str) -> Path:
    return Path(file).resolve()


P = ParamSpec("P")
FOLLOWED = Counter[str]()
"""Errors of each function whose remedy a test with `follows` follows."""


def follows(*sites: str) -> Callable[[Callable[P, None]], Callable[P, None]]:
    """Mark a test that follows a remedy by hand; it fails unless each of these functions raised its error."""

    def mark(test: Callable[P, None]) -> Callable[P, None]:
        FOLLOWED.update(sites)

        @functools.wraps(test)
        def watched(*arguments: P.args, **others: P.kwargs) -> None:
            with watch_sites() as raised:
                test(*arguments, **others)
            assert set(sites) <= set(raised), f"raised in {raised}"

        return watched

    return mark


def follow_case(
    case: Case,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    values: Mapping[str, str] | None = None,
) -> None:
    """Provoke the error of a case, follow its remedy, and see that the command comes further."""

    def filled(text: str) -> str:
        for name, value in (values or {}).items():
            text = text.replace(f"{{{name}}}", value)
        return text

    for name, text in case.variables.items():
        monkeypatch.setenv(name, filled(text))
    for name, content in case.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content if isinstance(content, bytes) else filled(content).encode())
    case.prepare(folder)
    arguments, says = shlex.split(filled(case.command)), filled(case.says)
    with watch_sites() as raised:
        code, printed = _execute(arguments, capsys)
    line = next((line for line in printed.splitlines() if says in line), "")
    assert code in (2, 4), f"the command succeeds: {printed}"
    assert line, f"{says!r} is not said: {printed}"
    assert not case.site or case.site in raised, f"raised in {raised}"
    attempt = Attempt(
        arguments=arguments,
        folder=folder,
        error=line,
        remedy=re.split(r"; expected .*?[^.A-Z]\. ", line, maxsplit=1)[-1],
        set_variable=monkeypatch.setenv,
        filled=filled,
    )
    case.follow(attempt)
    code, printed = _execute(attempt.arguments, capsys)
    assert says not in printed
    if case.leads_to:
        assert filled(case.leads_to) in printed
    else:
        assert code in (0, 1, 3), printed


def _execute(arguments: Sequence[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    capsys.readouterr()
    code = main(arguments)
    return code, capsys.readouterr().err


def take(old: str, pattern: str = r"Did you mean '?([^'?,]+)'?") -> Follow:
    """Write for a wrong word what the remedy names instead."""

    def follow(attempt: Attempt) -> None:
        match = re.search(pattern, attempt.remedy)
        assert match, attempt.remedy
        attempt.replace(old, match[1])

    return follow


def add(pattern: str, *, placeholder: str = "", value: str = "") -> Follow:
    """Add the options that the remedy names to the command, with a value for a placeholder."""

    def follow(attempt: Attempt) -> None:
        match = re.search(pattern, attempt.remedy)
        assert match, attempt.remedy
        words = match[1] if match.re.groups else match[0]
        assert placeholder in words
        attempt.arguments += shlex.split(words.replace(placeholder, value) if placeholder else words)

    return follow


def set_key(pattern: str, *, key: str = "") -> Follow:
    """Add `--set key=value` for what the remedy names as `key: value` or `key to value`; `key`: its full name."""

    def follow(attempt: Attempt) -> None:
        match = re.search(pattern, attempt.remedy)
        assert match, attempt.remedy
        name, value = match.groups()
        assert key.endswith(name) if key else True
        attempt.arguments += ["--set", f"{key or name}={value}"]

    return follow


def drop(named: str, *words: str) -> Follow:
    """Leave words out of the command that the remedy names."""

    def follow(attempt: Attempt) -> None:
        assert named in attempt.remedy
        for word in words:
            place = attempt.arguments.index(word)
            # An option goes with its value.
            first = place - 1 if attempt.arguments[place - 1].startswith("--") and not word.startswith("--") else place
            del attempt.arguments[first : place + 1]

    return follow


def export(pattern: str, value: str = "") -> Follow:
    """Set the variable that the remedy names, to the value that it names or to another one."""

    def follow(attempt: Attempt) -> None:
        match = re.search(pattern, attempt.remedy)
        assert match, attempt.remedy
        attempt.set_variable(match[1], value or match[2])

    return follow


def write(named: str, name: str, content: str | bytes) -> Follow:
    """Write a file as the remedy asks."""

    def follow(attempt: Attempt) -> None:
        assert named in attempt.remedy
        path = attempt.folder / name
        if path.is_dir():
            path.rename(path.with_name("moved"))
        path.write_bytes(content if isinstance(content, bytes) else content.encode())

    return follow


def change(named: str, old: str, new: str) -> Follow:
    """Write another value as the remedy asks, one that it leaves to the person."""

    def follow(attempt: Attempt) -> None:
        assert named in attempt.remedy
        attempt.replace(old, new)

    return follow


def run_first(pattern: str, *, placeholder: str = "", value: str = "", then: Follow | None = None) -> Follow:
    """Run the command that the remedy names, with a value for a placeholder, then follow the rest."""

    def follow(attempt: Attempt) -> None:
        match = re.search(pattern, attempt.remedy)
        assert match, attempt.remedy
        assert placeholder in match[1]
        words = match[1].replace(placeholder, value) if placeholder else match[1]
        assert main(shlex.split(words)) in (0, 1, 3)
        if then:
            then(attempt)

    return follow


def put_in_prompt(old: str) -> Follow:
    """Write the name in braces that the remedy asks for behind the text of a prompt."""

    def follow(attempt: Attempt) -> None:
        match = re.search(r"Add (\{\{ \w+ \}\}) to the prompt", attempt.remedy)
        assert match, attempt.remedy
        attempt.replace(old, f"{old} {match[1]}")

    return follow


def refused(call: Callable[[], object], says: str) -> ContraposeError:
    """Return the error that a call raises, which says this."""
    with pytest.raises(ContraposeError) as raised:
        call()
    assert says in str(raised.value)
    return raised.value
