"""How every task is named, cached and retried: the one place that says so."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from functools import cache, partial
from importlib.resources import files
from typing import Any, NamedTuple, ParamSpec, TypeVar

from prefect import Task, task
from prefect.cache_policies import NO_CACHE, CacheKeyFnPolicy
from prefect.serializers import JSONSerializer
from pydantic_core import to_jsonable_python

from contrapose.tasks.errors import ContraposeError
from contrapose.tasks.tables import home, intact

P = ParamSpec("P")
R = TypeVar("R")

RESULTS = home() / "results"
SERIALIZER = JSONSerializer(object_encoder="contrapose.tasks.policy.error_text", object_decoder=None)
"""Plain JSON: results are references and counts, an error is its text, and loading one runs no code."""


class Called(NamedTuple):
    """What a task returned, and whether an earlier run had computed it."""

    value: Any
    cached: bool


def room_task(
    name: str, *, sources: tuple[str, ...], run_name: str, persist: bool = True, unkeyed: tuple[str, ...] = ()
) -> Callable[[Callable[P, R]], Task[P, R]]:
    """A Prefect task with the project's policy.

    Args:
        name: shown in Prefect.
        sources: folders and files, relative to the package, whose code and data the outcome depends on.
            A change in any of them is another cache key, so that no stale result is served.
        run_name: name of each task run, a template over the task's arguments.
        persist: whether the outcome is cached.
        unkeyed: arguments that do not change the outcome, and so are no part of the cache key.
    """
    # Inside a flow that persists its own result, a task that says nothing is cached by its inputs.
    options: dict[str, Any] = {"cache_policy": NO_CACHE, "persist_result": False}
    if persist:
        options = {
            "cache_policy": CacheKeyFnPolicy(cache_key_fn=partial(_key, sources, unkeyed)),
            "persist_result": True,
            "result_storage": RESULTS,
            "result_serializer": SERIALIZER,
        }
    return task(
        name=name,
        task_run_name=run_name,
        tags=["contrapose"],
        retries=1,
        retry_delay_seconds=1,
        retry_condition_fn=_worth_a_retry,
        **options,
    )


def error_text(outcome: object) -> str:
    """An error in place of a result, as Prefect stores it; from another process it is raised with this text.

    Raises:
        TypeError: it is no error, and so cannot be stored.
    """
    if isinstance(outcome, BaseException):
        return f"{type(outcome).__name__}: {outcome}"
    raise TypeError(f"a {type(outcome).__name__} is no plain JSON")


def call(chosen: Task[..., Any], *, refresh: bool = False, **inputs: Any) -> Called:
    """Run a task; compute again when asked to, or when a cached reference points to a file that is gone."""
    state = chosen.with_options(refresh_cache=refresh)(**inputs, return_state=True)
    value = state.result()
    cached = state.name == "Cached"
    if cached and not all(intact(table) for table in _tables(value)):
        return call(chosen, refresh=True, **inputs)
    return Called(value=value, cached=cached)


def cache_key(name: str, sources: tuple[str, ...], inputs: Mapping[str, Any]) -> str:
    """Hash of a task's name, of the code it depends on, and of its inputs."""
    content = {"task": name, "code": code_sha256(sources), "inputs": to_jsonable_python(dict(inputs))}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


@cache
def code_sha256(sources: tuple[str, ...]) -> str:
    """Hash of the files below the given folders of the package."""
    digest = hashlib.sha256()
    for source in sources:
        for name, content in sorted(_contents(source)):
            digest.update(f"{source}/{name}".encode())
            digest.update(content)
    return digest.hexdigest()


def _key(sources: tuple[str, ...], unkeyed: tuple[str, ...], context: Any, inputs: dict[str, Any]) -> str:
    kept = {name: value for name, value in inputs.items() if name not in unkeyed}
    return cache_key(context.task.name, sources, kept)


def _contents(source: str) -> list[tuple[str, bytes]]:
    """Names and contents of one file, or of every source file in a folder and below."""
    room, _, rest = source.partition("/")
    found = files(f"contrapose.{room}")
    for part in filter(None, rest.split("/")):
        found = found.joinpath(part)
    return [(found.name, found.read_bytes())] if found.is_file() else list(_walk(found, ""))


def _walk(folder: Any, prefix: str) -> list[tuple[str, bytes]]:
    found: list[tuple[str, bytes]] = []
    for entry in folder.iterdir():
        if entry.is_dir() and entry.name != "__pycache__":
            found += _walk(entry, f"{prefix}{entry.name}/")
        elif entry.is_file() and not entry.name.endswith(".pyc"):
            found.append((prefix + entry.name, entry.read_bytes()))
    return found


def _worth_a_retry(_: Any, __: Any, state: Any) -> bool:
    """A mistake of the user's does not mend itself."""
    return not isinstance(state.result(raise_on_failure=False), ContraposeError)


def _tables(value: Any) -> list[Any]:
    """The table references inside a task's result."""
    if isinstance(value, Mapping):
        if {"uri", "sha256"} <= set(value):
            return [value]
        return [table for each in value.values() for table in _tables(each)]
    return [table for each in value for table in _tables(each)] if isinstance(value, list) else []
