"""Convert arguments of Contrapose's Python functions into the configuration of a run."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeGuard

from contrapose.flows.orchestration.options import resolve_suite, select_tests
from contrapose.flows.orchestration.spinner import is_progress_hidden
from contrapose.tasks.config.permissions import DATA, allow, allow_in_call
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core.errors import ConfigError, DataError
from contrapose.tasks.core.places import Place
from contrapose.tasks.infer.function import PROVIDER, offer_function
from contrapose.tasks.load.frame import convert_frame_to_lines, keep_frame

if TYPE_CHECKING:
    import pandas as pd

    from contrapose.tasks.infer.function import Answering

FRAME = "frame.jsonl"
"""In place of the file of a DataFrame, before there is one."""
FRAMES = ".frames"
"""Folder beside the runs that keeps the rows of DataFrames, where `contrapose resume` finds them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunArguments:
    """Arguments of a call that configure a run."""

    suite: str | Path | Mapping[str, Any] | None
    """A bundled suite, a file, or what such a file holds; None: every test with its default settings."""
    data: pd.DataFrame | str | Path | Mapping[str, Any] | None
    """Where the samples come from; None: the suite says."""
    columns: Mapping[str, str] | None
    """Our fields to the columns of `data`."""
    test: str | Sequence[str] | None
    """The only tests; None: those of the suite."""
    settings: Mapping[str, Any] | None
    """Dotted keys of the configuration to their values; they win."""
    plain: Mapping[str, Any] = field(default_factory=dict)
    """Single keys to their values; None and False leave the suite's."""

    def config(self, model: str | None, *, model_args: Mapping[str, Any] | None = None) -> RunConfig:
        """Make the configuration, in which `FRAME` stands for a DataFrame; without a model, use the suite's."""
        suite = str(self.suite) if isinstance(self.suite, Path) else self.suite
        if not (suite is None or isinstance(suite, str | Mapping)):
            raise _make_type_error("suite", suite, "the name of a suite, the path of a YAML file, or a mapping")
        changes: dict[str, Any] = {
            **({} if model is None else {"model": model}),
            **{f"model_args.{key}": value for key, value in (model_args or {}).items()},
        }
        if is_dataframe(self.data):
            changes["data"] = FRAME
        elif isinstance(self.data, str | Path):
            changes["data"] = str(self.data)
        elif isinstance(self.data, Mapping):
            changes["data"] = dict(self.data)
        elif self.data is not None:
            expected = "a DataFrame, a path, a bundled name, or a mapping with a source"
            raise _make_type_error("data", self.data, expected)
        changes |= {f"data.columns.{key}": column for key, column in (self.columns or {}).items()}
        changes |= {key: value for key, value in self.plain.items() if value is not None and value is not False}
        config, remarks = resolve_suite(suite, {**changes, **(self.settings or {})}, where="arguments")
        for remark in remarks if not is_progress_hidden() else ():
            warnings.warn(remark, stacklevel=2)
        return select_tests(config, [self.test] if isinstance(self.test, str) else self.test, where="test")

    @contextmanager
    def with_frame(self, config: RunConfig, *, keep: bool) -> Iterator[RunConfig]:
        """Yield the configuration with a DataFrame, if there is one, written to a file.

        With `keep` the file lies beside the runs, else it is gone when the context has been left. A DataError inside
        speaks of the DataFrame in place of the file.
        """
        if not is_dataframe(self.data) or config.data is None:
            yield config
            return
        lines = convert_frame_to_lines(self.data)
        with TemporaryDirectory() as temporary:
            folder = Place.at(config.output, setting="out") / FRAMES if keep else Place(temporary)
            source = keep_frame(lines, folder)
            allow({DATA: [source]})
            try:
                yield config.model_copy(update={"data": config.data.model_copy(update={"source": source})})
            except DataError as error:
                raise error.reworded(lambda text: text.replace(source, "the DataFrame")) from error


def is_dataframe(data: object) -> TypeGuard[pd.DataFrame]:
    """Return True if data are a DataFrame."""
    import pandas as pd

    return isinstance(data, pd.DataFrame)


@contextmanager
def offer_model(model: str | Answering | None) -> Iterator[str | None]:
    """Yield the id of a model that a call names; runs can call a function while the context is open."""
    if model is None or isinstance(model, str):
        with allow_in_call(model):
            yield model
    elif callable(model):
        with allow_in_call(None), offer_function(model) as name:
            yield name
    else:
        raise _make_type_error("model", model, "an id such as hf/<folder>, or a function that takes a prompt")


def refuse_workers(config: RunConfig) -> None:
    """Raise an error if a function would be sent to workers, which would have to unpickle it."""
    if config.model.startswith(f"{PROVIDER}/") and config.runner != "threads":
        raise ConfigError(
            f"runner is {config.runner}, and the model is a function of this process",
            expected="threads, or a model that workers find by its name",
            remedy="Leave out runner, or name the function as model='app/package.module:function'.",
            where="runner",
        )


def _make_type_error(name: str, value: object, expected: str) -> ConfigError:
    shown = repr(value)
    observed = f"{name} is {f'{shown[:60]}…' if len(shown) > 60 else shown}, a {type(value).__name__}"
    return ConfigError(observed, expected=expected, remedy=f"Pass {name} as {expected}.", where="arguments")
