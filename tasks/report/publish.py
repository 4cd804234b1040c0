"""The run folder: written aside, then put in place whole."""

from __future__ import annotations

import json
import platform
import re
import shutil
import subprocess
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from contrapose.tasks.config import RunConfig
from contrapose.tasks.errors import ConfigError
from contrapose.tasks.registry import find, names
from contrapose.tasks.report.base import Report

PACKAGES = ("contrapose", "prefect", "great-expectations", "pandas", "pyarrow", "transformers", "torch", "openai")


def write_folder(folder: Path, *, report: Report, cases: pa.Table, results: pa.Table, manifest: Mapping[str, Any]) -> None:
    """Write every file of a run into a new folder.

    Raises:
        ConfigError: the folder cannot be written.
    """
    part = folder.with_name(f".{folder.name}.part")
    try:
        part.mkdir(parents=True)
        pq.write_table(cases, part / "cases.parquet", compression="zstd")
        pq.write_table(results, part / "results.parquet", compression="zstd")
        (part / "manifest.json").write_text(json.dumps(manifest, indent=2, sort_keys=True, ensure_ascii=False) + "\n")
        for name in names("reports"):
            (part / name).write_bytes(find("reports", name)(report))
        part.rename(folder)
    except OSError as error:
        shutil.rmtree(part, ignore_errors=True)
        raise ConfigError(
            f"cannot write the run folder ({error.strerror or type(error).__name__})",
            expected="a folder that can be written",
            remedy="Choose another one with --out.",
            where=str(folder),
        ) from error


def run_id(started: str, config: RunConfig) -> str:
    """`<time>-<suite>-<model>`, safe as a folder name everywhere."""
    model = re.sub(r"[^\w.-]+", "-", Path(config.model).name if config.model.startswith("hf/") else config.model)
    return f"{started}-{config.suite}-{model.strip('-.')[-60:]}"


def free_folder(base: Path, name: str) -> Path:
    """A folder that does not exist yet: two runs of one second do not meet."""
    folder, count = base / name, 1
    while folder.exists() or folder.with_name(f".{folder.name}.part").exists():
        count += 1
        folder = base / f"{name}-{count}"
    return folder


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
