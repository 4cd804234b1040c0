"""How every task is named, cached and retried: the one place that says so."""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache, partial
from importlib import metadata
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

from prefect import Task, task
from prefect.cache_policies import NO_CACHE, CacheKeyFnPolicy
from prefect.client.schemas.objects import State
from prefect.serializers import JSONSerializer
from pydantic_core import to_jsonable_python

from contrapose.tasks.core.damage import private_folder, put_in_place, set_aside
from contrapose.tasks.core.errors import ContraposeError
from contrapose.tasks.core.import_closure import code_sha256
from contrapose.tasks.core.places import Place
from contrapose.tasks.core.registry import modules
from contrapose.tasks.tables.table import RESULTS_FOLDER, STORAGE, Table, full, home, intact, no_room, storage

P = ParamSpec("P")
R = TypeVar("R")

RESULTS = home() / RESULTS_FOLDER
FORMAT = 2
"""Raised whenever results of tasks are kept in another way: older ones are then not looked at."""
SEAL = re.compile(rb',"sha256":"([0-9a-f]{64})"}\Z')
"""How the file of a result ends; Prefect, which reads JSON, passes over it."""
WRITING_SECONDS = 0.2
"""How long another process that is writing a result at this moment is given to seal it."""
SERIALIZER = JSONSerializer(object_encoder="contrapose.tasks.core.policy.error_text", object_decoder=None)
"""Plain JSON: results are references and counts, an error is its text, and loading one runs no code."""


def room_task(
    name: str,
    *,
    run_name: str,
    persist: bool = True,
    by_name: Mapping[str, str] | None = None,
    unkeyed: tuple[str, ...] = (),
    rests_on: tuple[str, ...] = (),
) -> Callable[[Callable[P, R]], Task[P, R]]:
    """A Prefect task with the project's policy.

    An outcome that is cached is served only to the same code: a change in the task's module, or in any module or data
    that it rests on, is another cache key.

    Args:
        name: shown in Prefect.
        run_name: name of each task run, a template over the task's arguments.
        persist: whether the outcome is cached.
        by_name: what the task reaches through a visible table, whose code counts too: the table, such as `probes`, and
            a template of the name over the task's arguments; empty: all that is in the table.
        unkeyed: arguments that do not change the outcome, and so are no part of the cache key.
        rests_on: packages that decide the outcome, so that another version of one is another cache key.
    """

    def wrap(function: Callable[P, R]) -> Task[P, R]:
        # Inside a flow that persists its own result, a task that says nothing is cached by its inputs.
        options: dict[str, Any] = {"cache_policy": NO_CACHE, "persist_result": False}
        if persist:
            keyed = partial(_key, function.__module__, dict(by_name or {}), unkeyed, rests_on)
            options = {
                "cache_policy": CacheKeyFnPolicy(cache_key_fn=keyed),
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
            retry_condition_fn=_worth_a_retry,
            **options,
        )(function)

    return wrap


def error_text(outcome: object) -> str:
    """An error in place of a result, as Prefect stores it; from another process it is raised with this text.

    Raises:
        TypeError: it is no error, and so cannot be stored.
    """
    if isinstance(outcome, BaseException):
        return f"{type(outcome).__name__}: {outcome}"
    raise TypeError(f"a {type(outcome).__name__} is no plain JSON")


def call(chosen: Task[P, R], refresh: bool = False, /, *args: P.args, **inputs: P.kwargs) -> R:
    """Run a task; compute again when asked to, or when a cached reference points to a file that is gone or damaged.

    Args:
        chosen: the task.
        refresh: whether to compute again what was computed before.
        args: the task's own inputs.
        inputs: the task's own inputs, by name.

    Raises:
        CutShortError: the disk is full.
    """
    # Prefect's types know no flag beside a task's own inputs.
    again: Any = chosen.with_options(refresh_cache=refresh)
    with _room_wanted():
        value = sound(again(*args, **inputs, return_state=True))
    return call(chosen, True, *args, **inputs) if value is DAMAGED else cast(R, value)


@contextmanager
def _room_wanted() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if full(error):
            raise no_room(str(RESULTS)) from error
        raise


DAMAGED = object()
"""In place of the outcome of a task that must run again."""


def sound(state: State[Any]) -> object:
    """The outcome of a task run by its last state; `DAMAGED` where it was cached, and what it points to is not whole.

    Raises:
        Exception: what the task raised.
    """
    value = state.result()
    cached = state.name == "Cached"
    # All are looked at: each damaged one is set aside.
    if cached and [table for table in _tables(value) if not (_in_place(table) and intact(table))]:
        return DAMAGED
    if not cached and (key := getattr(getattr(state.data, "metadata", None), "storage_key", None)):
        seal(Path(key))
        _share(Path(key))
    return value


def _in_place(table: Table) -> bool:
    """Whether a table is where tables are kept now: elsewhere other machines may not find it."""
    return STORAGE not in os.environ or table["uri"].startswith(f"{storage()}/")


def _shared(name: str) -> Place | None:
    """Where other machines find a result; None where tables are this machine's alone."""
    return storage() / RESULTS_FOLDER / name if os.environ.get(STORAGE) else None


def _share(path: Path) -> None:
    """Leave a sealed result where other machines find it."""
    shared = _shared(path.name)
    with suppress(FileNotFoundError):
        if shared is not None and is_sealed(path):
            shared.write(path.read_bytes())


def _bring(path: Path) -> None:
    """Take over the result of another machine, where there is one that is whole."""
    shared = _shared(path.name)
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
    """End a result that Prefect has written with the hash of its content, and have the disk hold it."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        content = path.read_bytes()
        if SEAL.search(content):
            return
        part.write_bytes(content[:-1] + b',"sha256":"%s"}' % hashlib.sha256(content).hexdigest().encode())
        put_in_place(part, path)
    except FileNotFoundError:
        # Another process has set it aside as it was being written.
        return
    except OSError as error:
        if full(error):
            raise no_room(str(path.parent)) from error
        raise
    finally:
        part.unlink(missing_ok=True)


def is_sealed(path: Path) -> bool:
    """Whether the file of a result holds what was sealed.

    Raises:
        FileNotFoundError: there is none.
    """
    content = path.read_bytes()
    match = SEAL.search(content)
    return match is not None and hashlib.sha256(content[: match.start()] + b"}").hexdigest().encode() == match[1]


def set_aside_damaged(path: Path) -> None:
    """Have a task computed again whose stored result is damaged."""
    with suppress(FileNotFoundError):
        if is_sealed(path):
            # It is used now: whoever deletes what nobody uses looks at its time.
            os.utime(path)
            return
        if time.time() - path.stat().st_mtime < 10 * WRITING_SECONDS:
            time.sleep(WRITING_SECONDS)
        if not is_sealed(path):
            set_aside(path)


def cache_key(name: str, code_of: Iterable[str], inputs: Mapping[str, Any], *, rests_on: Iterable[str] = ()) -> str:
    """Hash of a task's name, of its inputs, of the code that some modules rest on, and of the versions of packages."""
    code, versions = _code(tuple(code_of)), {package: metadata.version(package) for package in rests_on}
    plain = to_jsonable_python(dict(inputs))
    content = {"task": name, "code": code, "packages": versions, "inputs": plain, "form": FORMAT}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


@cache
def _code(modules: tuple[str, ...]) -> str:
    """Of this process, whose code does not change any more."""
    return code_sha256(*modules, memo=home() / "code.json")


def _key(
    module: str,
    by_name: Mapping[str, str],
    unkeyed: tuple[str, ...],
    rests_on: tuple[str, ...],
    context: Any,
    inputs: dict[str, Any],
) -> str:
    """Called by Prefect as it looks for a stored result: a damaged one must be out of the way by then."""
    reached = [other for table, name in by_name.items() for other in modules(table, name.format(**inputs))]
    kept = {name: value for name, value in inputs.items() if name not in unkeyed}
    key = cache_key(context.task.name, [module, *reached], kept, rests_on=rests_on)
    private_folder(RESULTS)
    set_aside_damaged(RESULTS / key)
    _bring(RESULTS / key)
    return key


def _worth_a_retry(_: Any, __: Any, state: Any) -> bool:
    """A mistake of the user's does not mend itself."""
    return not isinstance(state.result(raise_on_failure=False), ContraposeError)


def _tables(value: Any) -> list[Any]:
    """The table references inside a task's result."""
    if isinstance(value, Mapping):
        if {"uri", "sha256"} <= set(value):
            return [value]
        return [table for part in value.values() for table in _tables(part)]
    return [table for part in value for table in _tables(part)] if isinstance(value, list) else []
