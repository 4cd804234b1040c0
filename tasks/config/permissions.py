"""Permissions of suites, forms and other outside configuration: which files, folders and applications they may use.

Everything on your own command line is allowed for that command. A suite, or the parameters of a run, may come from
somebody else: they may only name files below the working folder and the suite's folder, and what the environment lists.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from contrapose.tasks.config.hosts import DEPLOYED, origin_of, refuse_forbidden
from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.core import registry
from contrapose.tasks.core.errors import ConfigError, ModelError, Problems
from contrapose.tasks.core.secrets import remove_credentials
from contrapose.tasks.core.user_functions import is_offered

if TYPE_CHECKING:
    from contrapose.tasks.config.run_config import RunConfig

DATA = "CONTRAPOSE_DATA"
"""Variable that lists files, folders and URLs that may be read, parted by line breaks or semicolons; `*`: all."""
OUTPUT = "CONTRAPOSE_OUTPUT"
"""Variable that lists folders and URLs that runs may be written to, likewise."""
APPS = "CONTRAPOSE_APPS"
"""Variable that lists applications, each as after `app/`, and addresses of clusters, likewise."""
HISTORY = "CONTRAPOSE_HISTORY"
VARIABLES = (DATA, OUTPUT, APPS)

PREFIX = "app/"
HUGGING_FACE = "hf/"
PACKED = frozenset({"zip", "tar", "simplecache", "filecache", "blockcache"})
"""What a chain of fsspec may begin with: it unpacks or keeps what the rest of the chain names."""
ALWAYS_WRITABLE = frozenset({"runs", ".history"})
"""The default of `output`, and the folder of the history in it."""
MODELS = frozenset({"model", "reader", "baseline"})
"""Keys whose values are models."""
OPTIONS = {"data.source": " (--data)", "expectations": " (--expectations)", "model": " (--model)"}
"""Options that name files, by the setting."""
OF_KEYS: Mapping[str, str] = {
    **dict.fromkeys(
        ("data", "source", "expectations", "requests", "prompt_file", "reworded_file", "wordings_files"), DATA
    ),
    **dict.fromkeys(("output", "history"), OUTPUT),
    **dict.fromkeys(("address", "edit", "score"), APPS),
}
"""Last part of a key to the variable that allows what the key names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Permissions:
    """What a configuration may name when it runs in one place."""

    folder: Path
    environment: Mapping[str, str] = field(repr=False)

    @classmethod
    def here(cls) -> Self:
        """Return the permissions of this process."""
        return cls(folder=Path.cwd(), environment={**os.environ, **list_permission_variables()})

    def refuse(self, config: RunConfig, sources: Iterable[str]) -> None:
        """Raise ConfigError with each address that a configuration or the data of its tests may not name."""
        problems = Problems()
        files = [("data.source", source) for source in dict.fromkeys(sources)]
        files += [("expectations", file) for file in config.expectations]
        for spec in filter(None, (config.model_spec(), config.reader_spec())):
            files += [("model", file) for file in _list_recordings(spec)]
        for setting, file in files:
            with problems.gathered():
                self.refuse_file(file, where=setting)
        for setting, target in (("output", config.output), ("history", config.history)):
            with problems.gathered():
                self.refuse_target(target, where=setting)
        # Whoever runs a cluster can run code in the process of the run.
        address = config.runner_args.address
        if address is not None and not {"*", address} & set(self._entries(APPS)):
            option, where = " (--set runner_args.address=…)", "runner_args.address"
            expected = "a cluster that you name yourself"
            problems.errors.append(
                _make_refusal(address, "reached", APPS, expected=expected, option=option, where=where)
            )
        problems.refuse()

    def refuse_file(self, address: str, *, where: str) -> None:
        """Raise ConfigError if a path, URL, fsspec chain or `hf/<name>` may not be read, also through links."""
        *packs, place = address.split("::")
        host = origin_of(place)
        if host is not None:
            refuse_forbidden(host.host, where=where)
        if self._is_listed(address, DATA):
            return
        path = _find_local_path(place.removeprefix(HUGGING_FACE), self.folder)
        is_dataset = place.startswith(HUGGING_FACE) and not (path and path.is_dir())
        is_open = is_dataset or host is not None or (path is not None and self._is_below(path, DATA))
        if not is_open or any(pack.partition("://")[0] not in PACKED for pack in packs):
            expected = f"a visible file below {self.folder} or the suite, or a named one"
            raise _make_refusal(address, "read", DATA, expected=expected, option=OPTIONS.get(where, ""), where=where)

    def refuse_target(self, address: str | None, *, where: str) -> None:
        """Raise ConfigError if runs may not be written to a folder or URL."""
        if address is None or address in ALWAYS_WRITABLE or self._is_listed(address, OUTPUT):
            return
        if where == "history" and address == self.environment.get(HISTORY):
            return
        path = _find_local_path(address, self.folder)
        if path is None or not self._is_below(path, OUTPUT, but=ALWAYS_WRITABLE):
            expected = f"a folder below {self.folder}, or one that you name yourself"
            option = "--out " if where == "output" else f"--set {where}="
            option = f" ({option}{shlex.quote(remove_credentials(address))})"
            raise _make_refusal(address, "written to", OUTPUT, expected=expected, option=option, where=where)

    def refuse_app(self, name: str) -> None:
        """Raise ModelError if an application may not be called; `name` is the part after `app/`."""
        if not {"*", name} & set(self._entries(APPS)):
            verb = "asked" if "://" in name else "run"
            raise ModelError(
                f"{name} may not be {verb} here",
                expected="an application that --model names, or that the machine allows",
                remedy=f"Nothing was {verb}. Set {APPS}={shlex.quote(name)} where the run takes place.",
                where=f"{PREFIX}{name}",
            )

    def refuse_function(self, name: str, *, where: str) -> None:
        """Raise ConfigError if a test may not run a function; a function that a Python call offers is allowed."""
        if not is_offered(name) and not {"*", name} & set(self._entries(APPS)):
            expected = "a function that you name yourself, or that the machine allows"
            option = f" (--set {where}={shlex.quote(name)})"
            raise _make_refusal(
                name, "run", APPS, expected=expected, option=option, where=where, done="Nothing was run. "
            )

    def _entries(self, variable: str) -> list[str]:
        """Return the entries of a variable, and those that `contrapose deploy` stored for it."""
        text = f"{self.environment.get(variable, '')}\n{self.environment.get(variable + DEPLOYED, '')}"
        return [entry.strip() for entry in re.split(r"[;\n]", text) if entry.strip()]

    def _is_below(self, path: Path, variable: str, *, but: Iterable[str] = ()) -> bool:
        """Return whether a path is an allowed folder or below one, without hidden folders between."""
        listed = (_find_local_path(entry, self.folder) for entry in self._entries(variable))
        for folder in map(os.path.realpath, (self.folder, *filter(None, listed))):
            if str(path) == folder:
                return True
            # Below the root lies everything, the memory of processes too.
            if folder != os.sep and path.is_relative_to(folder):
                names = set(path.relative_to(folder).parts) - set(but)
                if not any(name.startswith(".") for name in names):
                    return True
        return False

    def _is_listed(self, address: str, variable: str) -> bool:
        """Return whether a variable lists all addresses, this one, or a URL above it."""
        above = "://" in address and ".." not in address.split("/")
        return any(
            entry in ("*", address) or (above and "://" in entry and address.startswith(f"{entry.rstrip('/')}/"))
            for entry in self._entries(variable)
        )


def _make_refusal(
    named: str, verb: str, variable: str, *, expected: str, option: str, where: str, done: str = ""
) -> ConfigError:
    """Return the error that a suite or a form names something that is not allowed; it says how to allow it."""
    shown = remove_credentials(named)
    remedy = f"{done}Name it on the command line{option}, or set {variable}={shlex.quote(shown)} where the run takes "
    observed = f"{shown} may not be {verb} for a suite or a form"
    return ConfigError(observed, expected=expected, remedy=f"{remedy}place.", where=where)


def list_named_by_user(values: Mapping[str, Any], *, suite: object = None) -> dict[str, list[str]]:
    """Return the files, folders and hosts that a command line or a Python call names, by the variable that allows them.

    Keys of a configuration may be dotted or nested. Of a suite that is a file, the folder may be read.
    """
    named: dict[str, list[str]] = {variable: [] for variable in VARIABLES}
    for key, text in _find_texts(values):
        if key in OF_KEYS:
            named[OF_KEYS[key]].append(text)
        elif key in MODELS and text.startswith(PREFIX):
            named[APPS].append(text.removeprefix(PREFIX))
        elif key in MODELS:
            named[DATA] += _list_recordings(ModelSpec(id=text))
    if isinstance(suite, str) and suite.endswith((".yaml", ".yml")):
        folder = str(Path(os.path.expanduser(suite)).parent)
        named[DATA] += [] if folder == "." else [folder]
    # A list in a variable has signs of its own.
    distinct = {
        variable: list(dict.fromkeys(entry for entry in entries if not set(entry) & {";", "\n"}))
        for variable, entries in named.items()
    }
    return {variable: entries for variable, entries in distinct.items() if entries}


_of_call: ContextVar[dict[str, list[str]] | None] = ContextVar("named by a call", default=None)
"""What a call from Python names, by the variable that allows it; None on the command line."""


@contextmanager
def allow_in_call(model: str | None) -> Iterator[None]:
    """Allow what a Python call names, its model first, only inside this context."""
    token = _of_call.set({variable: list(entries) for variable, entries in (_of_call.get() or {}).items()})
    try:
        allow(list_named_by_user({"model": model}))
        yield
    finally:
        _of_call.reset(token)


def allow(named: Mapping[str, Iterable[str]]) -> None:
    """Allow the named values: from a command line for this process, from a Python call until it ends."""
    of_call = _of_call.get()
    for variable, entries in named.items():
        before = os.environ.get(variable, "").split("\n") if of_call is None else of_call.get(variable, [])
        all_named = list(dict.fromkeys(filter(None, [*before, *entries])))
        if of_call is None:
            os.environ[variable] = "\n".join(all_named)
        else:
            of_call[variable] = all_named


def list_permission_variables() -> dict[str, str]:
    """Return the variables that pass the permissions of a call to child processes, without empty ones."""
    of_call = _of_call.get() or {}
    texts = {name: "\n".join(filter(None, (os.environ.get(name), *of_call.get(name, ())))) for name in VARIABLES}
    return {name: text for name, text in texts.items() if text}


def _find_texts(value: object, key: str = "") -> Iterator[tuple[str, str]]:
    """Yield the texts in nested values, each with the last part of its key."""
    if isinstance(value, str | Path):
        yield key, str(value)
    elif isinstance(value, Mapping):
        for name, part in value.items():
            yield from _find_texts(part, str(name).rpartition(".")[2])
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _find_texts(part, key)


def _list_recordings(spec: ModelSpec) -> list[str]:
    """Return the files that a model's provider reads replies from, or an empty list without such a provider."""
    known = spec.provider in registry.names("providers")
    files = getattr(registry.provider(spec.provider), "files", None) if known else None
    return list(files(spec)) if files else []


def _find_local_path(address: str, folder: Path) -> Path | None:
    """Return the local path of an address as fsspec reads it, with links resolved, or None if it is not local."""
    scheme, mark, _ = address.partition("://")
    if mark and scheme not in ("file", "local"):
        return None
    bare = re.sub(r"^(file|local):(//)?", "", address)
    return Path(os.path.realpath(os.path.join(folder, os.path.expanduser(bare))))
