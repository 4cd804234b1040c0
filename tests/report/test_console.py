from __future__ import annotations

import io

import pytest
from factories import control, outcome, summary
from hostile import HOSTILE, hostile_report
from rich.console import Console

from contrapose.tasks.outcome import Summary
from contrapose.tasks.report.console import print_summary


def printed(told: Summary, *, folder: str = "runs/x", encoding: str = "utf-8", colour: bool = False) -> str:
    buffer = io.BytesIO()
    file = io.TextIOWrapper(buffer, encoding=encoding)
    print_summary(told, console=Console(file=file, width=80, force_terminal=colour), folder=folder)
    file.flush()
    return buffer.getvalue().decode(encoding)


def test_it_fits_eighty_columns() -> None:
    large = outcome(test_type="a_probe_with_a_rather_long_name", cases=20_000, scored=19_998, refused=["x" * 300] * 30)
    assert max(map(len, printed(summary(tests=[large, outcome(verdict="incomplete")])).splitlines())) <= 80


def test_refused_samples_are_named() -> None:
    assert "order_bias: refused summary-007, summary-031" in printed(summary())


def test_skips_are_told_by_reason() -> None:
    assert "add_negation: skipped existing_negation 1, wh_subject_boundary 1" in printed(summary())


def test_the_noise_stands_beside_the_test() -> None:
    text = " ".join(printed(summary(tests=[outcome(control=control())])).split())
    assert "add_negation: noise: 3 of 48 answers (6.2%) changed under a control that keeps the meaning" in text
    assert "noise" not in printed(summary())


def test_it_reads_without_colours() -> None:
    text = printed(summary())
    assert "FAIL  because of order_bias." in text
    assert "36/40" in text
    assert "58.9-86.2%" in text


def test_verdicts_are_coloured_on_a_terminal() -> None:
    assert "\x1b[1;31mFAIL" in printed(summary(), colour=True)


def test_the_folder_is_printed_whole_so_that_it_can_be_copied() -> None:
    folder = "/home/someone/a folder/" + "x" * 100
    assert f"Report: {folder}/report.html\n" in printed(summary(), folder=folder)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_steer_no_terminal(text: str) -> None:
    found = printed(hostile_report(text).summary, folder=text)
    assert not [sign for sign in found if not (sign.isprintable() or sign == "\n")]


def test_markup_in_texts_is_shown_as_text() -> None:
    assert "[/bold] [link=https://evil.example]x[/link] :boom:" in printed(summary(reason=HOSTILE[12]))


def test_a_terminal_that_knows_ascii_only_gets_escapes() -> None:
    assert r"refused \u6a23\u672c" in printed(summary(tests=[outcome(refused=["樣本"])]), encoding="ascii")
