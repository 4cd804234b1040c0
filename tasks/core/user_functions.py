"""Python functions that a user passes or names as `module:function`, such as the edit of a relation.

Suites and forms may only name functions that `CONTRAPOSE_APPS` allows; plans with other functions are refused earlier.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any
from uuid import uuid4

from contrapose.tasks.core.errors import ConfigError

PATTERN = r"^[A-Za-z_][\w.]*:[A-Za-z_][\w.]*$"
"""`package.module:function`."""
OFFERED = "python:"
"""Begins the name of an object that a Python call offers, which no suite can name elsewhere."""

_offered: dict[str, Callable[..., Any]] = {}
_loaded: dict[str, str] = {}
"""Modules to the hash of their file when they were imported."""
_lock = Lock()


@contextmanager
def offer_functions(*functions: Callable[..., Any]) -> Iterator[list[str]]:
    """Yield a name for each function; runs of this process find it by that name until the context ends."""
    names = [f"{OFFERED}{_plain_name(function)}_{uuid4().hex[:12]}" for function in functions]
    with _lock:
        _offered.update(zip(names, functions, strict=True))
    try:
        yield names
    finally:
        with _lock:
            for name in names:
                del _offered[name]


def _plain_name(function: object) -> str:
    name = getattr(function, "__name__", type(function).__name__)
    return re.sub(r"\W+", "_", name).strip("_") or "function"


def is_offered(name: str) -> bool:
    """Return whether a Python call offers a function of this name now."""
    return name in _offered


def find_function(name: str, *, where: str) -> Callable[..., Any]:
    """Return the function with a name, or raise ConfigError; import a module again if its file changed."""
    if name.startswith(OFFERED):
        try:
            return _offered[name]
        except KeyError:
            raise ConfigError(
                f"{name.removeprefix(OFFERED)} is a function of a Python process that has ended",
                expected="a call from Python that passes the function, or module:function",
                remedy="Call contrapose.evaluate again with the function.",
                where=where,
            ) from None
    if not re.fullmatch(PATTERN, name):
        raise ConfigError(
            f"{name[:80]!r}",
            expected="module:function, such as edits:shorten for the function shorten in edits.py",
            remedy="Write module:function.",
            where=where,
        )
    module, _, path = name.partition(":")
    try:
        target: Any = _import(module)
        for part in path.split("."):
            target = getattr(target, part)
    except Exception as error:
        raise ConfigError(
            f"{name} cannot be imported ({type(error).__name__}: {error})",
            expected=f"a module in {Path.cwd()} or an installed one, and the function in it",
            remedy="Correct the name or the module, or run the command in the folder of the module.",
            where=where,
        ) from error
    if not callable(target):
        remedy = "Name a function of the module."
        raise ConfigError(f"{name} is {type(target).__name__}", expected="a function", remedy=remedy, where=where)
    function: Callable[..., Any] = target
    return function


def _import(module: str) -> Any:
    """Import a module, from the current folder first, and again if its file changed."""
    folder = os.getcwd()
    with _lock:
        if folder not in sys.path:
            sys.path.insert(0, folder)
        importlib.invalidate_caches()
        target = importlib.import_module(module)
        digest = _digest(target)
        if _loaded.setdefault(module, digest) != digest:
            target = importlib.reload(target)
            _loaded[module] = digest
        return target


def _digest(module: Any) -> str:
    """Return the hash of a module's file, or the version or name of a module without a file."""
    file = getattr(module, "__file__", None)
    if file is None or not Path(file).is_file():
        return str(getattr(module, "__version__", module.__name__))
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()


def find_function_version(name: str, *, where: str) -> str:
    """Return a text that changes with the function: the hash of its file, or the name of an offered object."""
    find_function(name, where=where)
    return name if name.startswith(OFFERED) else _digest(_import(name.partition(":")[0]))[:16]
