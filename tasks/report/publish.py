"""The run folder: written aside, then put in place whole."""

from __future__ import annotations

import itertools
import json
import platform
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import Any

from contrapose.tasks.columnar import schema_of
from contrapose.tasks.config import RunConfig
from contrapose.tasks.errors import ConfigError
from contrapose.tasks.records import Case
from contrapose.tasks.registry import find, names
from contrapose.tasks.report.base import Report
from contrapose.tasks.report.columns import described, of_cases, of_results
from contrapose.tasks.report.stored import StoredResults
from contrapose.tasks.tables import Table, batches, save

PACKAGES = (
    "contrapose",
    "prefect",
    "great-expectations",
    "pandas",
    "pyarrow",
    "transformers",
    "torch",
    "openai",
)


def write_files(
    folder: Path, report: Report, *, cases: Sequence[Table], results: StoredResults, manifest: Mapping[str, Any]
) -> None:
    """Write every file of a run folder."""
    told = json.dumps(manifest, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    (folder / "manifest.json").write_bytes(told.encode())
    asked, answered = (
        described(schema, columns, report.summary)
        for schema, columns in (
            (schema_of(Case), of_cases()),
            (results.schema, of_results(test["test_type"] for test in report.summary["tests"])),
        )
    )
    save(folder / "cases.parquet", (part for table in cases for part in batches(table)), asked)
    save(folder / "results.parquet", results.arrow(), answered)
    for name in names("reports"):
        content = find("reports", name)(report)
        with (folder / name).open("wb") as file:
            file.writelines([content] if isinstance(content, bytes) else content)


def write_folder(folder: Path, fill: Callable[[Path], None]) -> None:
    """Write a new folder, aside first: whoever looks finds it whole or not at all.

    Args:
        folder: as `free_folder` gave it, or any that does not exist yet.
        fill: writes its files into the folder that it is given.

    Raises:
        ConfigError: the folder cannot be written.
    """
    try:
        part = _aside(folder)
        part.mkdir(parents=True, exist_ok=True)
        try:
            fill(part)
            part.rename(folder)
        finally:
            shutil.rmtree(part, ignore_errors=True)
    except OSError as error:
        raise _unwritable(folder, error) from error


def run_id(started: str, config: RunConfig) -> str:
    """`<time>-<suite>-<model>`, safe as a folder name everywhere."""
    model = re.sub(r"[^\w.-]+", "-", Path(config.model).name if config.model.startswith("hf/") else config.model)
    return f"{started}-{config.suite}-{model.strip('-.')[-60:]}"


def free_folder(base: Path, name: str) -> Path:
    """A folder for `write_folder` that nobody else has, or is given from now on: two runs of one second do not meet.

    Raises:
        ConfigError: the folder around it cannot be written.
    """
    for count in itertools.count(1):
        folder = base / (name if count == 1 else f"{name}-{count}")
        try:
            _aside(folder).mkdir(parents=True)
        except FileExistsError:
            continue
        except OSError as error:
            raise _unwritable(folder, error) from error
        if not folder.exists():
            return folder
        _aside(folder).rmdir()
    raise AssertionError("the numbers have no end")


@contextmanager
def reserved_folder(base: Path, name: str) -> Iterator[Path]:
    """A folder as `free_folder` gives it, to be written inside; nothing is left aside, however the work ends.

    Raises:
        ConfigError: the folder around it cannot be written.
    """
    folder = free_folder(base, name)
    try:
        yield folder
    finally:
        shutil.rmtree(_aside(folder), ignore_errors=True)


def _aside(folder: Path) -> Path:
    """Where a folder is written; as long as it is there, the folder's name is taken."""
    return folder.with_name(f".{folder.name}.part")


def _unwritable(folder: Path, error: OSError) -> ConfigError:
    return ConfigError(
        f"cannot write the run folder ({error.strerror or type(error).__name__})",
        expected="a folder that can be written",
        remedy="Choose another one with --out.",
        where=str(folder),
    )


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that matter."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def git_commit() -> str | None:
    """Commit of the working folder, when it is a git checkout."""
    try:
        found = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, timeout=5, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return found.stdout.strip() or None
