from __future__ import annotations

import io
import re

import pytest
from factories import control, outcome, summary
from rich.console import Console

from contrapose.tasks.core.outcome import Summary
from contrapose.tasks.report.console import print_summary


def printed(
    told: Summary,
    *,
    folder: str = "runs/x",
    encoding: str = "utf-8",
    colour: bool = False,
    width: int = 80,
    show_toxic: bool = False,
) -> str:
    buffer = io.BytesIO()
    file = io.TextIOWrapper(buffer, encoding=encoding)
    console = Console(file=file, width=width, force_terminal=colour)
    print_summary(told, console=console, folder=folder, show_toxic=show_toxic)
    file.flush()
    return buffer.getvalue().decode(encoding)


def unpadded(text: str) -> str:
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())


@pytest.mark.parametrize("width", [80, 60, 40])
def test_it_fits_the_terminal(width: int) -> None:
    large = outcome(test_type="a_probe_with_a_rather_long_name", cases=20_000, scored=19_998, refused=["x" * 300] * 30)
    text = printed(summary(tests=[large, outcome(verdict="incomplete")]), width=width)
    assert max(map(len, text.splitlines())) <= width
    assert "75%" in text
    assert ("scored" in text.split("\n")[3]) == (width == 80)


def test_the_verdict_comes_first() -> None:
    assert printed(summary()).startswith("\nFAIL  because of order_bias.\n")


def test_what_could_not_be_scored_is_told_with_its_reasons() -> None:
    told = outcome(unscored=3, unscored_reasons={"The reply is empty.": 2, "The loss is not finite": 1})
    text = " ".join(printed(summary(tests=[told])).split())
    assert "3 could not be scored: The reply is empty (2); The loss is not finite (1)." in text


def test_a_test_with_nothing_to_tell_is_only_in_the_table() -> None:
    whole = {"skip_reasons": {}, "unscored": 0, "errors": 0, "coverage": 1.0, "gate": None}
    assert printed(summary(tests=[outcome(verdict="pass", reason="It is fine.", **whole)])).count("It is fine") == 0


def test_refused_samples_are_named() -> None:
    assert "  Refused summary-007, summary-031.\n" in unpadded(printed(summary()))


def test_skips_are_told_by_reason() -> None:
    text = " ".join(printed(summary()).split())
    assert "Skipped: 1 negated already; 1 asking in a way that leaves the end of the subject unclear." in text


@pytest.mark.parametrize(("verdict", "lead"), [("inconclusive", True), ("pass", False), ("fail", False)])
def test_first_line_of_a_test_says_that_most_rows_are_not_in_english(verdict: str, lead: bool) -> None:
    foreign = "17 of 20 rows are not in English"
    reason = f"{foreign}. It is odd." if lead else "It is odd."
    one = outcome(verdict=verdict, samples=20, skip_reasons={"not_english": 17, "empty": 1}, reason=reason)
    text = printed(summary(tests=[one]))
    assert re.search(rf"^add_negation: {verdict.upper()} .*; {foreign}$", unpadded(text), re.MULTILINE)
    assert unpadded(text).splitlines()[1].endswith(f"add_negation. {foreign}.")
    assert text.count(foreign) == 2
    assert ("It is odd." in text) == (verdict != "pass")


def test_tests_with_few_foreign_rows_say_so_among_the_skips_alone() -> None:
    text = printed(summary(tests=[outcome(samples=20, skip_reasons={"not_english": 9})]))
    assert "rows are not in English" not in text
    assert "Skipped: 9 not in English." in text


def test_the_noise_stands_beside_the_test() -> None:
    text = " ".join(printed(summary(tests=[outcome(control=control())])).split())
    assert "Noise: 3 of 48 answers (6.2%) changed under a control that keeps the meaning." in text
    assert "Noise" not in printed(summary())


def test_pairs_without_a_choice_stand_beside_the_test() -> None:
    text = " ".join(
        printed(summary(tests=[outcome(test_type="option_order", figures={"outcome_unparsed": 4})])).split()
    )
    assert "4 of 37 pairs lack a choice in one order or both: the verdict holds whatever they are." in text


def test_it_reads_without_colours() -> None:
    text = printed(summary())
    assert "FAIL  because of order_bias." in text
    assert "36/40" in text
    assert "58.9-86.2%" in text


def test_verdicts_are_coloured_on_a_terminal() -> None:
    assert "\x1b[1;31mFAIL" in printed(summary(), colour=True)
    assert "\x1b" not in printed(summary())


def test_colours_can_be_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert "31m" not in printed(summary(), colour=True)


def test_the_folder_is_printed_whole_so_that_it_can_be_copied() -> None:
    folder = "/home/someone/a folder/" + "x" * 100
    assert f"Report: {folder}/report.html\n" in printed(summary(), folder=folder)


def test_markup_in_texts_is_shown_as_text() -> None:
    markup = "[/bold] [link=https://evil.example]x[/link] :boom:"
    assert markup in printed(summary(reason=markup))


def test_a_terminal_that_knows_ascii_only_gets_escapes() -> None:
    assert r"Refused \u6a23\u672c" in printed(summary(tests=[outcome(refused=["樣本"])]), encoding="ascii")


@pytest.mark.parametrize(("show_toxic", "word"), [(False, "s***"), (True, "shit")])
def test_toxic_words_are_masked_unless_they_are_asked_for(show_toxic: bool, word: str) -> None:
    refused = outcome(verdict="pass", refused=["sample shit"], skip_reasons={"no shit": 2}, skipped=2)
    text = printed(summary(tests=[refused], warnings=["The shit is odd."]), show_toxic=show_toxic)
    assert text.count(word) == 3
    assert ("shit" in text) == show_toxic
