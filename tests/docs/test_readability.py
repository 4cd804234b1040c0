"""Pages and screens keep the limits of docs/tools/readability.py: words a sentence, and reading ease for newcomers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from docs_pages import DOCS, pages
from places import REPOSITORY

from contrapose.flows.cli import main


@pytest.fixture(scope="module")
def readability() -> Iterator[Any]:
    """The script that measures."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(DOCS / "tools")
        import readability

        yield readability


@pytest.mark.parametrize("path", pages(), ids=lambda path: str(path.relative_to(REPOSITORY)))
def test_page_is_easy_to_read(path: Path, readability: Any) -> None:
    assert readability.measure_page(path).faults(readability.limits_of(path)) == []


@pytest.fixture(scope="module")
def screens(readability: Any) -> dict[str, Any]:
    """What people read in a terminal, by kind."""
    return dict(readability.screens())


LEAST = {"help": 250, "errors and remedies": 550, "sentences": 250}
"""Sentences of each kind: fewer would mean that the script no longer finds them."""


@pytest.mark.parametrize("kind", LEAST)
def test_screen_is_easy_to_read(kind: str, readability: Any, screens: dict[str, Any]) -> None:
    figures = screens[kind]
    assert len(figures.sentences) >= LEAST[kind]
    assert figures.faults(readability.SCREEN) == []


def test_long_error_is_a_fault(readability: Any) -> None:
    source = (
        "def refuse():\n"
        f"    remedy = 'Set it to {'one and ' * 30}two.'\n"
        "    raise ConfigError('it is wrong', expected='a number', remedy=remedy)\n"
    )
    tree = readability.ast.parse(source)
    assert readability.error_texts(tree)[0] == "it is wrong; expected a number."
    figures = readability.measure_blocks((text, True) for text in readability.error_texts(tree))
    assert [fault[:8] for fault in figures.faults(readability.SCREEN)] == ["64 words", "35.0 wor"]


MOCK = ["--model", "mock", "--limit", "20"]
UNREAD = ["--set", "model_args.reply=It depends.", "--set", "tests.factuality.order_bias.read_with=reply"]
COMMANDS = {
    "run": ["run", *MOCK, "--exit-zero"],
    "explained": ["run", *MOCK, "--exit-zero", "--explain"],
    "unreadable": ["run", *MOCK, "--exit-zero", "--test", "order_bias", *UNREAD],
    "validate": ["validate", *MOCK],
    "estimate": ["estimate", *MOCK],
    "estimate of an early stop": ["estimate", *MOCK, "--stop", "early"],
    "preview": ["preview", "--test", "order_bias", "--limit", "2"],
    "doctor": ["doctor"],
    "history": ["history"],
}


@pytest.mark.slow
@pytest.mark.parametrize("arguments", COMMANDS.values(), ids=COMMANDS)
def test_printed_screen_is_easy_to_read(
    arguments: list[str],
    readability: Any,
    prefect_server: None,
    in_tmp: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("COLUMNS", "4000")
    if arguments[0] == "history":
        assert main(COMMANDS["run"]) == 0
        capsys.readouterr()
    assert main(arguments) == 0
    figures = readability.measure_screen(capsys.readouterr().out)
    assert figures.faults(readability.SCREEN) == []
