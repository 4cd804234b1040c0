"""The run folder: written aside, then put in place whole."""

from __future__ import annotations

import io
import json
import platform
import re
import shutil
import subprocess
import tempfile
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


def files_of(report: Report, *, cases: pa.Table, results: pa.Table, manifest: Mapping[str, Any]) -> dict[str, bytes]:
    """Every file of a run folder: name and content."""
    rendered = {name: find("reports", name)(report) for name in names("reports")}
    return {
        "manifest.json": (json.dumps(manifest, indent=2, sort_keys=True, ensure_ascii=False) + "\n").encode(),
        "cases.parquet": _parquet(cases),
        "results.parquet": _parquet(results),
        **rendered,
    }


def write_folder(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write a new folder, aside first: whoever looks finds it whole or not at all.

    Raises:
        ConfigError: the folder cannot be written.
    """
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        part = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
        try:
            for name, content in files.items():
                (part / name).write_bytes(content)
            part.chmod(0o755)
            part.rename(folder)
        finally:
            shutil.rmtree(part, ignore_errors=True)
    except OSError as error:
        raise ConfigError(
            f"cannot write the run folder ({error.strerror or type(error).__name__})",
            expected="a folder that can be written",
            remedy="Choose another one with --out.",
            where=str(folder),
        ) from error


def _parquet(table: pa.Table) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(table, buffer, compression="zstd")
    return buffer.getvalue()


def run_id(started: str, config: RunConfig) -> str:
    """`<time>-<suite>-<model>`, safe as a folder name everywhere."""
    model = re.sub(r"[^\w.-]+", "-", Path(config.model).name if config.model.startswith("hf/") else config.model)
    return f"{started}-{config.suite}-{model.strip('-.')[-60:]}"


def free_folder(base: Path, name: str) -> Path:
    """A folder that does not exist yet: two runs of one second do not meet."""
    folder, count = base / name, 1
    while folder.exists():
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
