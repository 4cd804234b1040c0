"""`contrapose init`: a suite file of one's own, from a model, data and a goal; asked for where nobody names them."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

import yaml

from contrapose.flows.cli import COMMONEST
from contrapose.flows.cli.arguments import Verb
from contrapose.flows.cli.terminal import print_lines
from contrapose.tasks.config.data_settings import DataSettings
from contrapose.tasks.config.model_names import known_provider
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.config.suite_files import load_config
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.registry import find, probe
from contrapose.tasks.load.columns import USUAL, required
from contrapose.tasks.load.reading import format_of

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

LIKELY: Mapping[str, str] = {
    "text": r"question|text|prompt|input|query|stem|sentence|instruction",
    "answer": r"answer|answerkey|answer_key|label|target|gold|key|correct|solution|expected",
    "options": r"options|choices|candidates",
    "instruction": r"instruction|prompt|input|question",
    "better": r"better|chosen|preferred",
    "worse": r"worse|rejected",
    "article_sentence": r"article\w*|source\w*|document",
    "correct_sentence": r"correct\w*",
    "incorrect_sentence": r"incorrect\w*|wrong\w*",
    "id": r"id|uid|qid|\w*_id",
}
"""What columns are called that hold a field; the usual names come first and need not be written down."""
LETTERED = re.compile(r"(?i)(?:option|choice|answer|opt)?[_ -]?([a-z])")
"""A column that holds one of the options: "A", "option_b", "Choice C"."""
SCHEMA = "suite.schema.json"
"""The schema, beside the suite that names it."""
WORKFLOW = Path(".github/workflows/evaluate.yaml")


def guessed_columns(columns: Sequence[str], fields: Sequence[str]) -> dict[str, str]:
    """Which column holds which field; those with a usual name are left out.

    Args:
        columns: of the source.
        fields: that are looked for.
    """
    guesses: dict[str, str] = {}
    for name in fields:
        if set(USUAL[name]) & set(columns):
            continue
        if name == "options" and (lettered := _lettered(columns)):
            guesses[name] = ",".join(lettered)
            continue
        free = [column for column in columns if column not in guesses.values()]
        close = next((column for column in free if re.fullmatch(LIKELY[name], column, re.IGNORECASE)), None)
        if close:
            guesses[name] = close
    return guesses


def _lettered(columns: Sequence[str]) -> list[str]:
    """Columns that hold the options A, B, C and so on, two at least."""
    by_letter: dict[str, str] = {}
    for column in columns:
        if match := LETTERED.fullmatch(column):
            by_letter.setdefault(match[1].upper(), column)
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    count = next((place for place, letter in enumerate(letters) if letter not in by_letter), len(letters))
    return [by_letter[letter] for letter in letters[:count]] if count > 1 else []


def fitting_goals(columns: Sequence[str]) -> list[str]:
    """The goals for rows with these columns where nobody names one; meaning where nothing fits."""
    fitting = ([goal for goal in group if _fits(goal, columns)] for group in UNASKED)
    return next(filter(None, fitting), ["meaning"])


def _fits(goal: str, columns: Sequence[str]) -> bool:
    """Whether the columns hold every field that the tests of a goal need, under usual names or names that are close."""
    for test in GOALS[goal][1]:
        needs = [*required(probe(test).sample_type), *(("options",) if test == "option_order" else ())]
        guesses = guessed_columns(columns, needs)
        if not all(set(USUAL[name]) & set(columns) or name in guesses for name in needs):
            return False
    return True


def suite_text(model: str, source: str, goals: Sequence[str], columns: Sequence[str]) -> str:
    """A commented suite.

    Args:
        model: its id.
        source: of the data; empty for the bundled samples.
        goals: names in `GOALS`.
        columns: of the data.
    """
    tests = [test for goal in goals for test in GOALS[goal][1]]
    lines = [
        f"# yaml-language-server: $schema={SCHEMA}",
        "# What a model is asked, and how strictly it is judged. `contrapose list --schema` tells every key.",
        f"model: {_scalar(model)}",
        *_for_model(model),
        *_for_data(source, columns, tests),
        "# Samples a test at most; remove it to take all.",
        "limit: 50",
        "tests:",
    ]
    for category in dict.fromkeys(probe(test).category for test in tests):
        lines.append(f"  {category}:")
        for test in (test for test in tests if probe(test).category == category):
            lines += [f"    # {probe(test).summary}", f"    {test}: {{}}"]
    return "\n".join(lines) + "\n"


def _for_model(model: str) -> Iterator[str]:
    if model.startswith("openai/"):
        yield "# Of another server than OpenAI's own; its key comes from OPENAI_API_KEY, never from this file."
        yield "# model_args: {base_url: http://localhost:8000/v1}"
        yield "# US dollars that a run may cost at most."
        yield "# max_cost: 1"


def _columns(source: str) -> list[str]:
    """The columns of the first rows of the data.

    Raises:
        ContraposeError: the source cannot be read.
    """
    settings = DataSettings(source=source)
    rows = islice(find("sources", format_of(settings))(settings), 20)
    return list(dict.fromkeys(name for row in rows for name in row.values))


def _for_data(source: str, columns: Sequence[str], tests: Sequence[str]) -> Iterator[str]:
    if not source:
        yield "# Your own rows, in .jsonl, .csv, .parquet, .xlsx or hf/<dataset>; without them, bundled samples."
        yield "# data: {source: questions.csv, columns: {text: question}}"
        return
    kinds = list(dict.fromkeys(probe(test).sample_type for test in tests))
    fields = list(dict.fromkeys(field for kind in kinds for field in required(kind)))
    guesses = guessed_columns(columns, [*fields, *(("options", "answer") if "text" in fields else ()), "id"])
    yield f"# Its columns: {', '.join(map(_scalar, columns))}"
    yield "data:"
    yield f"  source: {_scalar(source)}"
    if guesses:
        yield "  # Guessed by their names; correct them where they are wrong."
        yield "  columns:"
        yield from (f"    {name}: {_scalar(column)}" for name, column in guesses.items())


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
    columns = _columns(source) if source else []
    text = suite_text(model, source, arguments.goal or _goals(fitting_goals(columns)), columns)
    contents = [text, schema() + "\n", *([_workflow(arguments.out)] if arguments.ci else [])]
    for path, content in zip(files, contents, strict=True):
        _write(path, content)
    # What was written is read as a run would read it: a wrong model or column is told now.
    load_config(str(out))
    return print_lines([*(f"wrote {path}" for path in files), f"Next: contrapose preview --suite {out}"])


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
