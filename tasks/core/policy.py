"""Names, caching and retries of every Prefect task, in one place."""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache, wraps
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

from prefect import Task, get_run_logger, task
from prefect.cache_policies import NO_CACHE, CacheKeyFnPolicy
from prefect.client.schemas.objects import State
from prefect.context import TaskRunContext
from prefect.serializers import JSONSerializer
from pydantic_core import to_jsonable_python

from contrapose.tasks.core.damage import is_disk_full, private_folder, put_in_place, set_aside
from contrapose.tasks.core.errors import ContraposeError
from contrapose.tasks.core.home import home_folder
from contrapose.tasks.core.places import Place
from contrapose.tasks.core.registry import find_installed_versions, list_modules
from contrapose.tasks.tables.table import RESULTS_FOLDER, STORAGE, Table, disk_full_error, is_intact, open_storage

P = ParamSpec("P")
R = TypeVar("R")

RESULTS = home_folder() / RESULTS_FOLDER
FORMAT = 2
"""Raised whenever results of tasks are kept in another way: older ones are then not looked at."""
PACKAGES = ("contrapose.data", "contrapose.tasks")
"""Packages whose files decide results; tasks never import any other of ours."""
SEAL = re.compile(rb',"sha256":"([0-9a-f]{64})"}\Z')
"""How the file of a result ends; Prefect, which reads JSON, passes over it."""
WRITING_SECONDS = 0.2
"""How long another process that is writing a result at this moment may take to seal it."""
SERIALIZER = JSONSerializer(object_encoder="contrapose.tasks.core.policy.error_text", object_decoder=None)
"""Plain JSON: results are references and counts, an error is its text, and loading one runs no code."""
DAMAGED = object()
"""In place of the outcome of a task that must run again."""


def room_task(
    name: str,
    *,
    run_name: str,
    persist: bool = True,
    by_name: Mapping[str, str] | None = None,
    rests_on: tuple[str, ...] = (),
) -> Callable[[Callable[P, R]], Task[P, R]]:
    """Turn a function into a Prefect task with the project's policy of names, caching and retries.

    A cached outcome is served only to the same code: another file of ours is another cache key.

    Args:
        name: shown in Prefect.
        run_name: name of each task run, a template over the task's arguments.
        persist: whether the outcome is cached.
        by_name: extensions that the task uses, whose files count too: a table of the registry, such as `probes`, and
            a template of the name over the task's arguments; empty: all that is in the table.
        rests_on: packages that decide the outcome, so that another version of one is another cache key.
    """

    def key(context: Any, inputs: dict[str, Any]) -> str:
        # Prefect looks for a stored result next: a damaged one must be out of the way by then.
        reached = [
            code for table, entry in (by_name or {}).items() for code in list_modules(table, entry.format(**inputs))
        ]
        result = cache_key(context.task.name, reached, inputs, rests_on=rests_on)
        private_folder(RESULTS)
        _set_aside_damaged(RESULTS / result)
        _fetch_shared(RESULTS / result)
        return result

    def wrap(function: Callable[P, R]) -> Task[P, R]:
        # Inside a flow that persists its own result, a task that says nothing is cached by its inputs.
        options: dict[str, Any] = {"cache_policy": NO_CACHE, "persist_result": False}
        if persist:
            options = {
                "cache_policy": CacheKeyFnPolicy(cache_key_fn=key),
                "persist_result": True,
                "result_storage": RESULTS,
                "result_serializer": SERIALIZER,
            }
        return task(
            name=name,
            task_run_name=run_name,
            # No tags: Prefect asks its server for the limits of each before every task, and waits where that is busy.
            retries=1,
            retry_delay_seconds=1,
            # Tasks that failed together do not come back together.
            retry_jitter_factor=0.5,
            retry_condition_fn=_should_retry,
            **options,
        )(log_facts(function))

    return wrap


def log_facts(function: Callable[P, R]) -> Callable[P, R]:
    """Return a task's function that also logs its outcome and duration in Prefect."""

    @wraps(function)
    def run(*args: P.args, **inputs: P.kwargs) -> R:
        begun = time.monotonic()
        outcome = function(*args, **inputs)
        if TaskRunContext.get() is not None:
            get_run_logger().info("; ".join((*yield_facts(outcome), f"{time.monotonic() - begun:.1f} s")))
        return outcome

    return run


def yield_facts(outcome: object) -> Iterator[str]:
    """Yield facts about a task's outcome: a test's verdict, rows, broken expectations, and calls to the model."""
    if not isinstance(outcome, Mapping):
        return
    if "verdict" in outcome:
        yield f"verdict {outcome['verdict']}, as if it were the only test"
    if "findings" in outcome:
        broken = sum(not finding["holds"] for finding in outcome["findings"])
        yield f"{outcome['rows']:,} rows, {len(outcome['findings'])} expectations, {broken} of them broken"
    elif tables := _find_tables(outcome):
        yield f"{sum(table['rows'] for table in tables):,} rows"
    if "calls" in outcome:
        yield f"{outcome['calls']:,} calls, {outcome['from_store']:,} answers from the cache"


def cache_key(name: str, code_of: Iterable[str], inputs: Mapping[str, Any], *, rests_on: Iterable[str] = ()) -> str:
    """Return the hash of a task's name and inputs, of the files of our packages and of extensions, and of versions.

    `code_of` are modules that the task reaches by name: those of extensions stand for all files of their package. Of
    packages in `rests_on` the installed versions count. Raises ModuleNotFoundError.
    """
    extensions = {module.partition(".")[0] for module in code_of if not module.startswith("contrapose.")}
    content = {
        "task": name,
        "code": [_package_sha256(package) for package in (*PACKAGES, *sorted(extensions))],
        "packages": find_installed_versions(rests_on),
        "inputs": to_jsonable_python(dict(inputs)),
        "form": FORMAT,
    }
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


@cache
def _package_sha256(package: str) -> str:
    """Return the hash of a package's or module's files without documents, computed once in a process."""
    spec = find_spec(package)
    if spec is None:
        raise ModuleNotFoundError(f"No module named {package!r}", name=package)
    roots = [Path(folder) for folder in spec.submodule_search_locations or ()]
    digest = hashlib.sha256(f"{sys.version_info.major}.{sys.version_info.minor}".encode())
    for root in roots or [Path(spec.origin or "").parent]:
        for file in sorted(root.rglob("*")) if roots else [Path(spec.origin or "")]:
            if file.is_file() and file.suffix not in (".pyc", ".md"):
                content = hashlib.sha256(file.read_bytes()).hexdigest()
                digest.update(f"{file.relative_to(root).as_posix()}={content}\n".encode())
    return digest.hexdigest()


def error_text(outcome: object) -> str:
    """Return an error's text, which Prefect stores instead of a result, or raise TypeError for anything else."""
    if isinstance(outcome, BaseException):
        return f"{type(outcome).__name__}: {outcome}"
    raise TypeError(f"a {type(outcome).__name__} is no plain JSON")


def call_task(chosen: Task[P, R], refresh: bool = False, /, *args: P.args, **inputs: P.kwargs) -> R:
    """Run a task, again if `refresh` is set or a cached table is gone or damaged; CutShortError if the disk is full."""
    # Prefect's types know no flag beside a task's own inputs.
    again: Any = chosen.with_options(refresh_cache=refresh)
    try:
        value = verified_result(again(*args, **inputs, return_state=True))
    except OSError as error:
        if is_disk_full(error):
            raise disk_full_error(str(RESULTS)) from error
        raise
    return call_task(chosen, True, *args, **inputs) if value is DAMAGED else cast(R, value)


def verified_result(state: State[Any]) -> object:
    """Return or raise the outcome of a task run, or return `DAMAGED` if a cached table of it is damaged."""
    value = state.result()
    if state.name == "Cached":
        # All are looked at: each damaged one is set aside. Tables elsewhere than in the shared place do not count:
        # other machines may not find them.
        here = f"{open_storage()}/" if STORAGE in os.environ else ""
        damaged = [table for table in _find_tables(value) if not (table["uri"].startswith(here) and is_intact(table))]
        return DAMAGED if damaged else value
    if key := getattr(getattr(state.data, "metadata", None), "storage_key", None):
        path = Path(key)
        seal(path)
        shared = _find_shared_place(path.name)
        with suppress(FileNotFoundError):
            if shared is not None and is_sealed(path):
                shared.write(path.read_bytes())
    return value


def _find_shared_place(name: str) -> Place | None:
    """Return the place where other machines find a result, or None if tables are only on this machine."""
    return open_storage() / RESULTS_FOLDER / name if os.environ.get(STORAGE) else None


def _fetch_shared(path: Path) -> None:
    """Copy the result of another machine, if there is an intact one."""
    shared = _find_shared_place(path.name)
    if shared is None or path.exists():
        return
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_bytes(shared.read())
        if is_sealed(part):
            put_in_place(part, path)
        else:
            shared.set_aside()
    except FileNotFoundError:
        return
    finally:
        part.unlink(missing_ok=True)


def seal(path: Path) -> None:
    """Append the hash of its content to a result that Prefect has written, and flush it to the disk."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    # Another process may have set it aside as it was being written.
    with suppress(FileNotFoundError):
        try:
            content = path.read_bytes()
            if SEAL.search(content):
                return
            part.write_bytes(content[:-1] + b',"sha256":"%s"}' % hashlib.sha256(content).hexdigest().encode())
            put_in_place(part, path)
        finally:
            part.unlink(missing_ok=True)


def is_sealed(path: Path) -> bool:
    """Return whether a result's file still has the content that `seal` hashed, or raise FileNotFoundError."""
    content = path.read_bytes()
    match = SEAL.search(content)
    return match is not None and hashlib.sha256(content[: match.start()] + b"}").hexdigest().encode() == match[1]


def _set_aside_damaged(path: Path) -> None:
    """Rename a damaged result, so that its task is computed again."""
    with suppress(FileNotFoundError):
        if is_sealed(path):
            # It is used now: pruning looks at its time.
            os.utime(path)
            return
        if time.time() - path.stat().st_mtime < 10 * WRITING_SECONDS:
            time.sleep(WRITING_SECONDS)
        if not is_sealed(path):
            set_aside(path)


def _should_retry(_: Any, __: Any, state: Any) -> bool:
    """Return whether a retry may help; it does not help against an error that the user must fix."""
    return not isinstance(state.result(raise_on_failure=False), ContraposeError)


def _find_tables(value: Any) -> list[Table]:
    """Return the table references inside a task's result."""
    if isinstance(value, Mapping):
        if {"uri", "sha256"} <= set(value):
            return [cast(Table, value)]
        value = list(value.values())
    return [table for part in value for table in _find_tables(part)] if isinstance(value, list) else []
