"""`contrapose init`: a suite file of one's own, from a model, data and a goal; asked for where nobody names them."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import yaml

from contrapose.flows.cli import COMMONEST
from contrapose.flows.cli.arguments import Verb
from contrapose.flows.cli.terminal import print_lines
from contrapose.flows.cli.validate import refused_tests
from contrapose.tasks.config.data_settings import DataSettings
from contrapose.tasks.config.model_names import known_provider
from contrapose.tasks.config.permissions import DATA, Permissions, allow, typed
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.config.suite_files import load_config, validate
from contrapose.tasks.core.errors import ConfigError, together
from contrapose.tasks.core.records import Sample, TextSample
from contrapose.tasks.core.registry import find, probe
from contrapose.tasks.load.describing import HEAD, describe, missing_fields, refuse_unasked
from contrapose.tasks.load.description import TableDescription
from contrapose.tasks.load.reading import format_of
from contrapose.tasks.load.rows import Row
from contrapose.tasks.text.wording import columns_read

GOALS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "meaning": ("does the answer change when the meaning is reversed?", ("add_negation",)),
    "numbers": ("does the answer change when a number does?", ("change_number",)),
    "opposites": ("does the answer change when an adjective is replaced by its opposite?", ("antonym",)),
    "robustness": ("does the answer stay when only the form changes?", ("typo", "casing", "spacing")),
    "toxicity": ("does the model stay clean when the prompt is not?", ("add_toxic_words",)),
    "options": ("does the order of the options decide the answer?", ("option_order",)),
    "summaries": ("does the order of two summaries decide which is better?", ("order_bias",)),
    "judge": ("does the order of two answers decide which is better?", ("judge_order",)),
}
"""What people want to know, and the tests that tell it."""

UNASKED = (("judge",), ("summaries",), ("meaning", "options"))
"""Goals that are chosen for whoever names none: those that the data can answer, of the first group that has some."""

FALLBACK = ("robustness",)
"""Goals for texts that no other test can change."""
SCHEMA = "suite.schema.json"
"""The schema, beside the suite that names it."""
WORKFLOW = Path(".github/workflows/evaluate.yaml")


class DataTable(NamedTuple):
    """What is known of the data that a suite is written for."""

    source: str
    """As it was given; empty for the bundled samples."""
    rows: Sequence[Row]
    """The first rows that can be read."""

    def described(self, kind: type[Sample]) -> TableDescription:
        """Which column holds which field of such samples."""
        return describe(self.rows, DataSettings(source=self.source), kind)

    def fits(self, goal: str) -> bool:
        """Whether some column holds every field that the tests of a goal need."""
        tests = [probe(test) for test in GOALS[goal][1]]
        return all(self._has(test.sample_type, options=test.name == "option_order") for test in tests)

    def _has(self, kind: type[Sample], *, options: bool) -> bool:
        description = self.described(kind)
        return not missing_fields(description, self.rows) and (not options or "options" in description.fields)


def first_rows(source: str) -> DataTable:
    """The first rows of the data.

    Raises:
        ContraposeError: the source cannot be read.
    """
    settings = DataSettings(source=source)
    rows = islice(find("sources", format_of(settings))(settings), HEAD)
    return DataTable(source, [row for row in rows if row.problem is None])


def fitting_goals(table: DataTable) -> list[str]:
    """The goals for rows like these where nobody names one.

    Raises:
        DataError: no column can be the question.
    """
    fitting = ([goal for goal in group if table.fits(goal)] for group in UNASKED)
    chosen = next(filter(None, fitting), None)
    if chosen is None:
        refuse_unasked(table.described(TextSample), table.rows, DataSettings(source=table.source), uses_answers=False)
    layout = table.described(TextSample).layout
    # Documents that are to be summarised ask nothing that a negation could reverse.
    return list(FALLBACK) if layout and layout.prompt and chosen == ["meaning"] else chosen or ["meaning"]


def suite_text(model: str, table: DataTable | None, goals: Sequence[str]) -> str:
    """A commented suite.

    Args:
        model: its id.
        table: the data; None for the bundled samples.
        goals: names in `GOALS`.
    """
    tests = [test for goal in goals for test in GOALS[goal][1]]
    lines = [
        f"# yaml-language-server: $schema={SCHEMA}",
        "# What a model is asked, and how strictly it is judged. `contrapose list --schema` tells every key.",
        f"model: {_scalar(model)}",
        *_for_model(model),
        *_for_data(table, tests),
        "# Samples a test at most; remove it to take all.",
        "limit: 50",
        "tests:",
    ]
    for category in dict.fromkeys(probe(test).category for test in tests):
        lines.append(f"  {category}:")
        for test in (test for test in tests if probe(test).category == category):
            lines += [f"    # {probe(test).summary}", f"    {test}: {_settings(test, table)}"]
    return "\n".join(lines) + "\n"


def _settings(test: str, table: DataTable | None) -> str:
    """Settings of a test: what is asked about documents that ask nothing themselves."""
    kind = probe(test).sample_type
    layout = table.described(kind).layout if table and kind is TextSample else None
    return f"{{prompt: {json.dumps(layout.prompt)}}}" if layout and layout.prompt else "{}"


def _for_model(model: str) -> Iterator[str]:
    if model.startswith("openai/"):
        yield "# Of another server than OpenAI's own; its key comes from OPENAI_API_KEY, never from this file."
        yield "# model_args: {base_url: http://localhost:8000/v1}"
        yield "# US dollars that a run may cost at most."
        yield "# max_cost: 1"


def _for_data(table: DataTable | None, tests: Sequence[str]) -> Iterator[str]:
    """The data, with the columns that were found and why; a known layout is recognised again by itself."""
    if table is None:
        yield "# Your own rows, in .jsonl, .csv, .parquet, .xlsx or hf/<dataset>; without them, bundled samples."
        yield "# data: {source: questions.csv, columns: {text: question}}"
        return
    yield "data:"
    yield f"  source: {_scalar(table.source)}"
    kinds = list(dict.fromkeys(probe(test).sample_type for test in tests))
    descriptions = [table.described(kind) for kind in kinds]
    for description in descriptions:
        yield f"  # columns: {columns_read(description.summary())}"
    if any(description.layout for description in descriptions) or len(descriptions) != 1:
        return
    yield "  # Found by names and values; correct what is wrong. An empty name leaves a field out."
    yield "  columns:"
    for name, source in descriptions[0].fields.items():
        yield f"    {name}: {_scalar(','.join(source.columns))}  # {source.reason}"


def _scalar(value: str) -> str:
    """A text as YAML, in one line."""
    return yaml.safe_dump(value, width=10**6, allow_unicode=True, default_flow_style=True).split("\n")[0]


def schema() -> str:
    """The JSON Schema of a suite, made from the models that read it."""
    return json.dumps(
        {"$schema": "https://json-schema.org/draft/2020-12/schema", **RunConfig.model_json_schema()}, indent=2
    )


def _options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--model", help="id of the model, such as openai/<model>, hf/<org>/<name> or embedded")
    command.add_argument("--data", metavar="SOURCE", help="your rows: a file, URL or hf/<dataset> (default: bundled)")
    command.add_argument(
        "--goal",
        action="append",
        choices=GOALS,
        help="what you want to know (default: what the columns can answer); may be given again",
    )
    command.add_argument(
        "--out", default="suite.yaml", metavar="FILE", help="where the suite goes (default: suite.yaml)"
    )
    command.add_argument("--ci", action="store_true", help=f"write {WORKFLOW} too, a gate of pull requests")
    command.add_argument("--force", action="store_true", help="replace files that are there")


def _init(arguments: argparse.Namespace) -> int:
    out = Path(arguments.out)
    files = [out, out.with_name(SCHEMA), *([WORKFLOW] if arguments.ci else [])]
    taken = [path for path in files if path.exists() and path.name != SCHEMA]
    if taken and not arguments.force:
        raise ConfigError(
            "the file is there already",
            expected="a name that is free",
            remedy="Choose another one with --out, or replace it with --force.",
            where=str(taken[0]),
        )
    if out.suffix not in (".yaml", ".yml"):
        raise ConfigError(
            f"{out.name!r} is no name of a suite", expected="a name that ends in .yaml", remedy="Correct --out."
        )
    model = arguments.model or _answered("Model (embedded, hf/<org>/<name>, openai/<model>)", "embedded")
    known_provider(model)
    source = arguments.data if arguments.data is not None else _answered("Data (file, URL or hf/<dataset>)", "")
    allow(typed({"source": source, "model": model}))
    table = first_rows(source) if source else None
    chosen = arguments.goal or _goals(fitting_goals(table) if table else ["meaning"])
    text = suite_text(model, table, _usable_goals(model, table, chosen, chosen=bool(arguments.goal)))
    contents = [text, schema() + "\n", *([_workflow(arguments.out)] if arguments.ci else [])]
    for path, content in zip(files, contents, strict=True):
        _write(path, content)
    load_config(str(out))
    return print_lines(
        [*(f"wrote {path}" for path in files), f"Next: {_allowing(source)}contrapose preview --suite {out}"]
    )


def _allowing(source: str) -> str:
    """The variable that allows the suite its data, before a command; empty where nothing has to allow them."""
    try:
        Permissions(folder=Path.cwd(), environment={}).refuse_file(source, where="--data")
    except ConfigError:
        return f"{DATA}={shlex.quote(source)} "
    return ""


def _usable_goals(model: str, table: DataTable | None, goals: Sequence[str], *, chosen: bool) -> Sequence[str]:
    """The goals whose tests a run would accept; where none is left, that the answer stays when the form changes.

    Raises:
        ContraposeError: a test of a goal that the user chose is refused, or every test is.
    """
    if table is None:
        return goals
    refused = refused_tests(validate(yaml.safe_load(suite_text(model, table, goals)), where=table.source))
    usable = [goal for goal in goals if not refused.keys() >= set(GOALS[goal][1])]
    if refused and (chosen or not usable):
        if chosen or list(goals) == list(FALLBACK):
            raise together(list(refused.values()))
        return _usable_goals(model, table, FALLBACK, chosen=False)
    return usable


def _goals(fitting: Sequence[str]) -> list[str]:
    for name, (question, _) in GOALS.items() if sys.stdin.isatty() else ():
        print(f"  {name:<11}{question}")
    chosen = _answered("Goals, with commas between them", ", ".join(fitting)).replace(",", " ").split()
    if unknown := [name for name in chosen if name not in GOALS]:
        raise ConfigError(
            f"unknown goal {unknown[0]!r}", expected=f"one of {', '.join(GOALS)}", remedy="Correct the name."
        )
    return list(dict.fromkeys(chosen))


def _answered(question: str, default: str) -> str:
    """What a person answers; the default where nobody is there, or nothing is typed."""
    if not sys.stdin.isatty():
        return default
    try:
        return input(f"{question} [{default or 'bundled samples'}]: ").strip() or default
    except EOFError:
        return default


def _workflow(suite: str) -> str:
    from importlib.resources import files

    text = files("contrapose.deployments").joinpath("github", "evaluate.yaml").read_text(encoding="utf-8")
    return text.replace("SUITE: suite.yaml", f"SUITE: {suite}").replace("paths: [suite.yaml]", f"paths: [{suite}]")


def _write(path: Path, content: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    except OSError as error:
        raise ConfigError(
            f"the file cannot be written ({error.strerror})",
            expected="a folder that can be written",
            remedy="Choose another one with --out.",
            where=str(path),
        ) from error


VERB = Verb(options=_options, act=_init, example=COMMONEST["init"])
