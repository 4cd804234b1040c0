"""The newest run below a folder, and the words that name an endpoint of the tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd


def newest(out: str | Path = "out", file: str = "") -> Path:
    """The newest folder of a run, or a file in it."""
    return max(Path(out).glob("[!.]*"), key=lambda folder: folder.stat().st_mtime_ns) / file


def summary_of(out: str | Path = "out") -> dict[str, Any]:
    content: dict[str, Any] = json.loads(newest(out, "summary.json").read_text())
    return content


def results_of(out: str | Path = "out") -> pd.DataFrame:
    """Its results, without the model's name."""
    return pd.read_parquet(newest(out, "results.parquet")).drop(columns=["model"])


def setting(*values: str) -> list[str]:
    """Each as `--set KEY=VALUE`."""
    return [word for value in values for word in ("--set", value)]


def asking(port: int, *settings: str) -> list[str]:
    """Words that name the endpoint on a port as the model, which is asked nothing twice."""
    address = f"model_args.base_url=http://127.0.0.1:{port}/v1"
    return ["--model", "openai/any", *setting(address, "noise=0", *settings)]


def write_rows(name: str | Path, rows: Any) -> str:
    """Write rows as JSON lines; returns the name of the file."""
    Path(name).write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return str(name)
