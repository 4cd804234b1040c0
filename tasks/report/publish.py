"""Write the run folder: in a temporary folder first, then moved into place, with documented table columns."""

from __future__ import annotations

import itertools
import json
import os
import platform
import re
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from itertools import accumulate
from pathlib import Path, PurePath
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import ConfigDict, TypeAdapter

from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core.damage import make_folder_as_above, put_in_place
from contrapose.tasks.core.errors import ConfigError, ContraposeError
from contrapose.tasks.core.outcome import Summary
from contrapose.tasks.core.places import Place, atomic_folder, part_folder
from contrapose.tasks.core.records import Case
from contrapose.tasks.core.registry import find, find_installed_versions, is_probe, names, probe
from contrapose.tasks.report.base import FIGURES, SKIPPED_SHOWN, Report, SentPrompts
from contrapose.tasks.tables.columnar import schema_of, shrink_to_fit
from contrapose.tasks.tables.large_blocks import give_back
from contrapose.tasks.tables.passages import PASSAGES, has_passage_columns
from contrapose.tasks.tables.results import list_result_columns
from contrapose.tasks.tables.table import Table, batches, save, take
from contrapose.tasks.text.cleaning import replace_surrogates

PACKAGES = ("contrapose", "prefect", "great-expectations", "pandas", "pyarrow", "transformers", "torch", "openai")


def write_files(
    folder: Path, report: Report, *, cases: Sequence[Table], results: StoredResults, manifest: Mapping[str, Any]
) -> None:
    """Write every file of a run folder."""
    text = json.dumps(manifest, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    (folder / "manifest.json").write_bytes(text.encode())
    tests = (test["test_type"] for test in report.summary["tests"])
    asked = describe_schema(schema_of(Case), describe_cases(), report.summary)
    columns = describe_results(tests, passages=has_passage_columns(results.schema.names))
    answered = describe_schema(results.schema, columns, report.summary)
    save(folder / "cases.parquet", (part for table in cases for part in batches(table)), asked)
    save(folder / "results.parquet", results.arrow(), answered)
    for name in names("reports"):
        content = find("reports", name)(report)
        if content is None:
            continue
        with (folder / name).open("wb") as file:
            file.writelines([content] if isinstance(content, bytes) else content)
        give_back()


def write_folder(folder: Place, fill: Callable[[Path], None], *, last: str) -> None:
    """Fill a temporary folder and move it into place, so that readers find it complete or not at all.

    `find_free_folder` gave it; `fill` writes its files into a local folder, of which `last` completes it where folders
    cannot be renamed. Raises ConfigError if it cannot be written, CutShortError where its server does not answer.
    """
    try:
        with atomic_folder(folder, last=last) as part:
            fill(part)
    except OSError as error:
        raise explain_unwritable(folder, error) from error


def make_run_id(started: str, config: RunConfig) -> str:
    """Return `<time>-<suite>-<model>`, safe as a folder name everywhere."""
    in_files = config.model.startswith(("hf/", "recorded/"))
    model = re.sub(r"[^\w.-]+", "-", Path(config.model).name if in_files else config.model)
    return f"{started}-{config.suite}-{model.strip('-.')[-60:]}"


def find_free_folder(base: Place, name: str) -> Place:
    """Reserve a new folder name for `write_folder`; runs started in the same second get different names.

    Raises ConfigError if the folder around it cannot be written, CutShortError where its server does not answer.
    """
    if not base.is_local:
        # Nothing can be made by one alone there: who finds another's sign takes a name that nobody thinks of.
        folder, sign = base / name, uuid4().hex
        (part_folder(folder) / sign).write(b"")
        if part_folder(folder).names() == [sign] and not folder.exists():
            return folder
        (part_folder(folder) / sign).remove()
        return base / f"{name}-{sign[:8]}"
    for count in itertools.count(1):
        folder = base / (name if count == 1 else f"{name}-{count}")
        try:
            make_folder_as_above(part_folder(folder).path)
        except FileExistsError:
            continue
        except OSError as error:
            raise explain_unwritable(folder, error) from error
        if not folder.exists():
            return folder
        part_folder(folder).path.rmdir()
    raise AssertionError("the numbers have no end")


@contextmanager
def reserve_folder(base: Place, name: str) -> Iterator[Place]:
    """Yield a folder from `find_free_folder`; afterwards remove temporary files, even after an error."""
    folder = find_free_folder(base, name)
    try:
        yield folder
    finally:
        with suppress(OSError, ContraposeError):
            part_folder(folder).remove()


def explain_unwritable(
    folder: Path | Place,
    error: OSError,
    *,
    what: str = "the run folder",
    remedy: str = "Choose another one with --out.",
) -> ConfigError:
    """Return the error that something cannot be written into a folder."""
    return ConfigError(
        f"cannot write {what} ({error.strerror or type(error).__name__})",
        expected="a folder that can be written",
        remedy=remedy,
        where=str(folder),
    )


def write_pages(folder: Path, contents: Mapping[str, bytes], *, what: str) -> None:
    """Write files in order into a folder, created if missing; each file appears complete or not at all.

    Raises ConfigError if the folder cannot be written; `what` cannot be kept there.
    """
    try:
        make_folder_as_above(folder, exist_ok=True)
        for name, content in contents.items():
            part = folder / f".{name}.part"
            part.write_bytes(content)
            put_in_place(part, folder / name)
    except OSError as error:
        raise explain_unwritable(folder, error, what=what) from error


def collect_versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that can change results."""
    return {"python": platform.python_version(), **find_installed_versions(PACKAGES)}


def read_git_commit() -> str | None:
    """Return the commit of the working folder, when it is a git checkout."""
    try:
        answered = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, timeout=5, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return answered.stdout.strip() or None


class StoredResults:
    """Result rows of several tables, read in order under one schema."""

    def __init__(self, tables: Sequence[Table]) -> None:
        self.tables = tables

    @cached_property
    def schema(self) -> pa.Schema:
        """Columns of all tables, the common ones first."""
        return pa.unify_schemas([next(batches(table)).schema for table in self.tables])

    @cached_property
    def figures(self) -> pd.DataFrame:
        """Rows, counted from 0, with those of their columns that are in `FIGURES`."""
        frame: pd.DataFrame = self._read([name for name in self.schema.names if name in FIGURES]).to_pandas()
        return frame

    def at(self, places: Sequence[int]) -> pd.DataFrame:
        """Return some rows with all columns; `places` are ascending."""
        ends = list(accumulate(table["rows"] for table in self.tables))
        parts = [
            take(table, [place - end + table["rows"] for place in places if end - table["rows"] <= place < end])
            for table, end in zip(self.tables, ends, strict=True)
        ]
        return self._to_frame(pa.concat_tables(map(self._complete, parts)))

    def parts(self) -> Iterator[pd.DataFrame]:
        """Rows with all columns, one part after the other."""
        yield from map(self._to_frame, self.arrow())

    def arrow(self) -> Iterator[pa.Table]:
        """Rows as Arrow tables."""
        yield from (self._complete(part) for table in self.tables for part in batches(table))

    @cached_property
    def _as_floats(self) -> pa.Schema:
        """Schema in which whole numbers that are missing in some row are floats, as pandas has them."""
        whole = [field.name for field in self.schema if pa.types.is_integer(field.type)]
        numbers = self._read(whole)
        return pa.schema(
            field.with_type(pa.float64()) if field.name in whole and numbers[field.name].null_count else field
            for field in self.schema
        )

    def _read(self, columns: Sequence[str]) -> pa.Table:
        # A table without any of them would lose its rows: a column that every table has is read too.
        parts = (part for table in self.tables for part in batches(table, columns=["test_type", *columns]))
        empty = self.schema.empty_table().select(list(columns))
        return pa.concat_tables([empty, *map(shrink_to_fit, parts)], promote_options="default").select(list(columns))

    def _complete(self, part: pa.Table) -> pa.Table:
        """Return a part with every column; those that its test does not have are empty."""
        return pa.concat_tables([self.schema.empty_table(), part], promote_options="default")

    def _to_frame(self, part: pa.Table) -> pd.DataFrame:
        frame: pd.DataFrame = part.cast(self._as_floats).to_pandas()
        return frame


def yield_sent(tables: Sequence[Table]) -> Iterator[SentPrompts]:
    """Yield the prompts of each asked case, in order."""
    columns = ["id", "original_prompt", "perturbed_prompt", "skip_reason"]
    for table in tables:
        for part in batches(table, columns=columns):
            for case, original, changed, skipped in zip(*(part[name].to_pylist() for name in columns), strict=True):
                if skipped is None and changed is not None:
                    yield SentPrompts(case_id=case, original=original, changed=changed)


def collect_replies(tables: Sequence[Table]) -> dict[str, tuple[str | None, str | None]]:
    """Return both raw replies of each case by its id; results hold replies formatted for people instead."""
    columns = (("case", "id"), ("expected", "text"), ("actual", "text"))
    replies: dict[str, tuple[str | None, str | None]] = {}
    for table in tables:
        for part in batches(table, columns=[".".join(path) for path in columns]):
            values = (pc.struct_field(part[name], inner).to_pylist() for name, inner in columns)
            replies |= {case: (before, after) for case, before, after in zip(*values, strict=True)}
    return replies


def list_messages(config: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Return role and text of the configured messages that precede every prompt."""
    kept = {name: config[name] for name in ("system_instruction", "few_shot") if config.get(name)}
    *before, _ = ModelSpec.model_validate({"id": "", **kept}).messages("")
    return tuple((message["role"], message["content"]) for message in before)


def sample_skipped(tables: Sequence[Table]) -> pd.DataFrame:
    """Return the first skipped cases of each test and reason."""
    columns = ["probe", "sample_id", "original", "skip_reason"]
    examples = pd.DataFrame({name: [] for name in columns}, dtype=str)
    for part in (part for table in tables for part in batches(table, columns=columns)):
        more = part.filter(pc.is_valid(part["skip_reason"]))
        if more.num_rows:
            examples = pd.concat([examples, more.to_pandas()]).groupby(["probe", "skip_reason"]).head(SKIPPED_SHOWN)
    return examples.rename(columns={"probe": "test_type"}).reset_index(drop=True)


Description = dict[str, str]
"""What a column of a file holds: a `description` in a sentence, and the `unit` of a number, empty where it has none."""


def describe_results(tests: Iterable[str], *, passages: bool = False) -> dict[str, Description]:
    """Return the column descriptions of results.parquet; those of passages on demand."""
    columns = {
        name: column for test in tests if is_probe(test) for name, column in list_result_columns(probe(test)).items()
    }
    columns = {**columns, **(PASSAGES if passages else {})}
    return {name: {"description": column.description, "unit": column.unit} for name, column in columns.items()}


def describe_cases() -> dict[str, Description]:
    """Return the column descriptions of cases.parquet."""
    # Only through a list are fields of a plain dataclass described by what is written beneath them.
    adapter = TypeAdapter(list[Case], config=ConfigDict(use_attribute_docstrings=True))
    fields: dict[str, Any] = adapter.json_schema()["$defs"]["Case"]["properties"]
    return {name: {"description": field.get("description", ""), "unit": ""} for name, field in fields.items()}


def describe_schema(schema: pa.Schema, columns: Mapping[str, Description], summary: Summary) -> pa.Schema:
    """Return the schema with descriptions of the columns, in each field and as JSON under one key.

    The other keys are what the rows depend on; neither the run's name nor its time, since two runs of the same have the
    same files.
    """
    descriptions = {name: columns[name] for name in schema.names if name in columns}
    fields = [field.with_metadata(descriptions.get(field.name)) for field in schema]
    tests = summary["tests"]
    facts = {
        "suite": summary["suite"],
        "model": summary["model"]["id"],
        "revision": summary["model"]["revision"],
        "version": summary["contrapose"],
        "schema_version": str(summary["schema_version"]),
    }
    tables = {
        "probe_versions": {test["test_type"]: test["probe_version"] for test in tests},
        "data_sha256": {test["test_type"]: test["data"]["sha256"] for test in tests},
        "columns": descriptions,
    }
    facts |= {name: json.dumps(content, sort_keys=True) for name, content in tables.items()}
    # Other programs add keys of their own to a file.
    return pa.schema(fields, {f"contrapose.{name}": replace_surrogates(text) for name, text in facts.items()})


REPORTS_URL = "CONTRAPOSE_REPORTS_URL"
"""Environment variable: URL under which the folder that receives the runs can be read."""


def make_report_url(folder: str) -> str:
    """Return the URL of a run's report: on its server if it is served, else of its file."""
    if base := os.environ.get(REPORTS_URL, "").rstrip("/"):
        return f"{base}/{quote(PurePath(folder).name)}/report.html"
    return f"{folder}/report.html" if "://" in folder else Path(folder, "report.html").absolute().as_uri()
