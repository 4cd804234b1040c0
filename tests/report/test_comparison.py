"""A comparison in terminal, Markdown and JSON: whole, narrow, and safe."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from attacks import ATTACKS, steering
from rich.console import Console

from contrapose.tasks.core.comparison import (
    ComparedRate,
    Comparison,
    Contender,
    Contest,
    Difference,
    Flips,
    Pair,
    RankedModel,
    Standing,
    Verdict,
)
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.report.comparison_markdown import render
from contrapose.tasks.report.comparison_page import write_comparison
from contrapose.tasks.report.console import print_comparison


def compared(text: str = "mock", *, test: str = "order_bias", **changes: Any) -> Comparison:
    """Two models in one test: the baseline, and one that cannot be told apart from it."""
    rate, verdict = ComparedRate(value=0.8, interval=(0.652, 0.895)), Verdict.__args__[3]  # type: ignore[attr-defined]
    found = Difference(
        value=-0.05, interval=(-0.165, 0.042), bounds=(-0.14, 0.017), p=0.5, adjusted=0.5, method="exact McNemar test"
    )
    pair = Pair(
        first="embedded",
        second=text,
        cases=40,
        clusters=40,
        only_first=3,
        only_second=1,
        neither=0,
        rates=(rate, rate),
        difference=found,
        extremes=(-0.2, 0.1),
        verdict=verdict,
        reason="With 95 % confidence the difference is between -16.5 points and +4.2 points.",
    )
    names = (text, "embedded")
    base = Comparison(
        schema_version=1,
        verdict=verdict,
        reason=f"Cannot tell: embedded in {test}.",
        baseline=text,
        margin=0.05,
        models=[
            Contender(name=name, model=name, revision=text, run_id=text, folder=text, verdict="fail") for name in names
        ],
        leaderboard=[RankedModel(name=name, rank=1, mean_rank=1.5, ranks={test: 1}) for name in names],
        tests=[
            Contest(
                test_type=test,
                cases=44,
                common=40,
                standings=[Standing(name=name, rank=1, asked=44, scored=40, rate=rate, gate=0.7) for name in names],
                pairs=[pair],
            )
        ],
        warnings=[text],
    )
    return Comparison(**{**base, **changes})


def printed(comparison: Comparison, *, encoding: str = "utf-8") -> str:
    buffer = io.BytesIO()
    file = io.TextIOWrapper(buffer, encoding=encoding)
    print_comparison(comparison, console=Console(file=file, width=80, highlight=False))
    file.flush()
    return buffer.getvalue().decode(encoding)


def test_the_terminal_shows_rates_differences_and_verdicts() -> None:
    text = printed(compared())
    assert "CANNOT TELL  Cannot tell: embedded in order_bias." in text
    assert "80 [65.2, 89.5]" in text
    assert "-5 [-16.5, +4.2]   CANNOT TELL" in text
    assert "order_bias: 44 cases, 40 scored for every model" in text


def test_cases_that_were_not_scored_for_both_are_told() -> None:
    told = (
        "3 cases scored for embedded alone, 1 case scored for mock alone; these could move the difference to between "
        "-20 and +10 points"
    )
    assert told in " ".join(printed(compared()).split())
    assert told in render(compared()).decode()


def test_it_fits_eighty_columns() -> None:
    long = compared("openai/an-organisation/a-model-with-a-rather-long-name", test="a_probe_with_a_rather_long_name")
    lines = printed(Comparison(**{**long, "models": []})).splitlines()
    assert max(map(len, lines)) <= 80


def test_a_terminal_without_unicode_shows_it_too() -> None:
    assert "CANNOT TELL" in printed(compared("modèle"), encoding="ascii").replace("─", "-")


@pytest.mark.parametrize("kind", ATTACKS)
def test_hostile_texts_steer_no_terminal(kind: str) -> None:
    for text in ATTACKS[kind]:
        found = printed(compared(text, test=text))
        assert not steering(found)


@pytest.mark.parametrize("kind", ATTACKS)
def test_hostile_texts_are_text_in_markdown(kind: str) -> None:
    for text in ATTACKS[kind]:
        found = render(compared(text, test=text)).decode()
        for mark in ("<script", "<img", "<svg", "](", "![", "<b>", "`", "@someone", "#123", "https://"):
            assert mark not in found
        assert "\x1b" not in found


def test_the_markdown_says_what_its_words_mean() -> None:
    text = render(compared()).decode()
    assert "The margin is 5 points." in text
    for verdict in ("better", "not worse", "worse", "cannot tell"):
        assert f"- {verdict}: " in text


def test_both_files_are_written_and_written_again(tmp_path: Path) -> None:
    for _ in range(2):
        write_comparison(tmp_path / "new", compared(), Flips())
    assert json.loads((tmp_path / "new" / "comparison.json").read_text())["baseline"] == "mock"
    assert (tmp_path / "new" / "comparison.md").read_bytes() == render(compared())


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(ConfigError, match="--out"):
        write_comparison(tmp_path / "file", compared(), Flips())
