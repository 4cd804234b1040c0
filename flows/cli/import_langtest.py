"""`contrapose import-langtest`: a LangTest configuration as a suite."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

import yaml

from contrapose.flows.cli.arguments import Verb
from contrapose.flows.cli.terminal import print_lines, say
from contrapose.tasks.config.langtest_import import import_langtest
from contrapose.tasks.config.suite_files import read_values, validate
from contrapose.tasks.core.errors import ConfigError


def _options(command: argparse.ArgumentParser) -> None:
    command.add_argument("file", metavar="FILE", help="LangTest's configuration, a YAML file")
    command.add_argument("--out", metavar="FILE", help="suite that is written (default: standard output)")
    command.add_argument("--logs", action="store_true", help=argparse.SUPPRESS)


def _import(arguments: argparse.Namespace) -> int:
    name = "".join(letter if letter.isalnum() or letter in "_.-" else "-" for letter in Path(arguments.file).stem)
    suite, notes = import_langtest(read_values(arguments.file), name=name[:80] or "langtest")
    tests = suite.get("tests")
    if not isinstance(tests, Mapping) or not set(tests) - {"defaults"}:
        missing = ", ".join(note.partition(":")[0] for note in notes if note.startswith("tests."))
        raise ConfigError(
            f"none of its tests has a counterpart{missing and f' ({missing})'}",
            expected="add_negation, add_toxic_words, order_bias or a test of robustness such as add_typo",
            remedy="contrapose list shows the tests that there are.",
            where=arguments.file,
        )
    validate(suite, where=arguments.file)
    text = yaml.safe_dump(suite, sort_keys=False, allow_unicode=True)
    for note in notes:
        say(f"{arguments.file}: {note}")
    if arguments.out is None:
        return print_lines([text.rstrip()])
    _write(Path(arguments.out), text)
    say(f"{arguments.out} is a suite: contrapose validate --suite {arguments.out}")
    return 0


def _write(path: Path, text: str) -> None:
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise ConfigError(
            f"the suite cannot be written ({error.strerror})",
            expected="a file that is not there yet, in a folder that is",
            remedy="Name another file with --out.",
            where=str(path),
        ) from error


VERB = Verb(options=_options, act=_import, example="import-langtest config.yaml --out suite.yaml")
