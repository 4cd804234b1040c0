"""What a notebook shows of an outcome, and a terminal of a preview: every text harmless, toxic words masked."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from attacks import ATTACKS, steering
from contrast import contrast_with_white
from factories import gate, outcome, summary
from hostile import Seen, hostile_report
from rich.console import Console
from test_comparison import compared

from contrapose import ComparedRuns, ContraposeError, EvaluatedRun
from contrapose.tasks.core.outcome import Summary
from contrapose.tasks.core.records import Case
from contrapose.tasks.report.notebook import COLOURS
from contrapose.tasks.report.preview import PreviewTally, format_intro, format_sample, print_indented
from contrapose.tasks.text.masking import make_shower

TAGS = {"div", "strong", "span", "table", "thead", "tbody", "tr", "th", "td"}


def page(content: Summary | None = None, **options: Any) -> str:
    run = EvaluatedRun(location="/elsewhere/run", summary=content or summary(), **options)
    return run._repr_html_()


def comparison_page(text: str) -> str:
    return ComparedRuns(location="/elsewhere/comparison", summary=compared(text, test=text))._repr_html_()


def test_verdict_rates_gates_and_reasons_are_there() -> None:
    tests = [outcome(verdict="fail", gates=[gate(), gate(name="contrast_rate", rate=0.1, interval=(0.04, 0.23))])]
    text = " ".join(Seen(page(summary(tests=tests, warnings=["Odd data."]))).text.split())
    (test,) = tests
    assert f"{test['test_type']} " in text
    assert "contrast rate 10% 4.0-23.0% 70%" in text
    assert test["reason"] in text
    assert "Odd data." in text
    assert text.endswith("Report: /elsewhere/run/report.html")


def test_a_comparison_shows_each_pair() -> None:
    text = " ".join(Seen(comparison_page("mock")).text.split())
    assert text.startswith("cannot tell compared with mock, margin 5 points Cannot tell: embedded in mock.")
    assert "mock mock 1 80 [65.2, 89.5] baseline" in text
    assert "-5 [-16.5, +4.2] 0.500 cannot tell" in text


@pytest.mark.parametrize("kind", ATTACKS)
def test_nothing_of_a_text_is_more_than_text(kind: str) -> None:
    for text in ATTACKS[kind][:40]:
        for made in (page(hostile_report(text).summary), comparison_page(text)):
            seen = Seen(made)
            assert set(seen.tags) <= TAGS, ascii(text)
            assert {name for name, _ in seen.attributes} <= {"style", "scope", "class"}
            assert not steering(re.sub(r"[\n\t]", " ", seen.text)), ascii(text)


def test_toxic_words_are_masked_unless_they_are_to_be_shown() -> None:
    tests = [outcome(verdict="fail", reason="It said fucking hell.")]
    assert "fucking" not in page(summary(tests=tests))
    assert "fucking" in page(summary(tests=tests), show_toxic=True)


def test_only_badges_have_colours_and_those_are_readable() -> None:
    styles = " ".join(value or "" for name, value in Seen(page()).attributes if name == "style")
    assert set(re.findall(r"(?<![-\w])color:([^;]+)", styles)) == {"inherit", "#fff"}
    for colour in COLOURS.values():
        assert contrast_with_white(colour) >= 4.5


def test_dollars_are_no_formula() -> None:
    assert ("class", "tex2jax_ignore mathjax_ignore") in Seen(page()).attributes


def test_a_run_is_short_in_a_terminal(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    made = summary(tests=[outcome(test_type="order_bias", verdict="fail")])
    run = EvaluatedRun(location=str(tmp_path / "runs" / "x"), summary=made)
    assert repr(run) == f"<EvaluatedRun {made['verdict']}: order_bias fail; runs/x>"
    assert run.report == tmp_path / "runs" / "x" / "report.html"
    assert "\n" not in repr(EvaluatedRun(location="a\nb", summary=hostile_report("c\nd").summary))


def test_a_run_elsewhere_has_no_path() -> None:
    run = EvaluatedRun(location="memory://runs/x", summary=summary())
    with pytest.raises(ContraposeError, match=r"the folder is not on this machine.*Use location"):
        run.report  # noqa: B018


def case(**changes: Any) -> Case:
    base: dict[str, Any] = {
        "id": "p/1",
        "sample_id": "1",
        "probe": "p",
        "version": "1",
        "original": "It is.",
        "perturbed": "It is not.",
        "original_prompt": "It is. Go on:",
        "perturbed_prompt": "It is not. Go on:",
        "scorer": "s",
        "asks": "generate",
        "confidence": "high",
    }
    return Case(**base | changes)


def skip(reason: str) -> Case:
    return case(perturbed=None, perturbed_prompt=None, confidence=None, skip_reason=reason)


def told(*samples: list[Case], title: str = "p") -> list[str]:
    tally = PreviewTally()
    for cases in samples:
        tally.add(cases)
    return [line.plain for line in format_intro(title, "data", tally)]


def printed(*cases: Case, colour: bool = False) -> str:
    console = Console(width=80, force_terminal=colour)
    with console.capture() as captured:
        for heading, text in format_sample(cases, make_shower(show_toxic=False), brackets=not colour):
            print_indented(heading, console, by=0)
            print_indented(text, console, by=4)
    return captured.get()


def test_samples_and_cases_are_counted() -> None:
    several = [case(id="p/1/1"), case(id="p/1/2"), case(id="p/1/control", control=True)]
    assert told(several, [skip("empty")])[1] == "2 samples: 1 changed, 1 skipped; 2 cases; 1 control"


def test_a_sample_with_only_a_skipped_case_counts_by_its_reason() -> None:
    assert told([case()], [skip("empty")], [skip("empty")])[3:] == ["skipped:", "      2  empty"]


def test_reasons_are_told_in_the_words_of_the_test() -> None:
    assert told([skip("wh_subject_boundary")])[-1] == "      1  wh subject boundary", "the probe p is unknown"
    assert told([skip("no_long_word")], title="typo")[-1].endswith("five letters or more that may be mistyped")
    assert "1  without a number in the last sentence\n" in printed(
        case(probe="change_number", perturbed=None, perturbed_prompt=None, confidence=None, skip_reason="no_number")
    ).replace("p/1", "1")


def test_first_line_says_that_most_rows_are_not_in_english() -> None:
    assert told([case()], [skip("not_english")])[1] == "1 of 2 rows is not in English"
    assert told([case()], [case()], [skip("not_english")])[1] == "3 samples: 2 changed, 1 skipped"


def test_the_ten_commonest_reasons_are_named() -> None:
    samples = [[skip(f"reason_{number:02}")] for number in range(12) for _ in range(20 - number)]
    lines = told(*samples)
    assert lines[3] == "     20  reason 00"
    assert lines[-1] == "     19  for 2 other reasons"
    assert len(lines) == 14


def test_prompts_are_compared_where_the_texts_are_the_same() -> None:
    assert "It is {+not+}. Go on:" in printed(case(perturbed="It is."))


@pytest.mark.parametrize("kind", ATTACKS)
def test_hostile_texts_steer_no_terminal(kind: str) -> None:
    for text in ATTACKS[kind]:
        shown = printed(case(id=text, original=text, perturbed=f"{text} not", confidence=text), skip(text))
        shown += "\n".join(told([skip(text)], title=text))
        assert not steering(shown)


def test_wordings_are_counted() -> None:
    pairs = [[case(wording=first), case(wording=second)] for first, second in ((1, 2), (2, 3), (3, 1), (1, 2))]
    assert "3 wordings, 2 to 3 cases each" in told(*pairs)
    assert not any("wording" in line for line in told([case()]))


def test_what_is_sent_is_shown_in_one_wording() -> None:
    from contrapose.tasks.config.model_spec import ModelSpec
    from contrapose.tasks.report.preview import format_sent

    cases = [case(wording=1), case(wording=1, control=True), case(wording=2), case(wording=2, control=True)]
    lines = format_sent(cases, ModelSpec(id="mock"), str, chat=True, brackets=True)  # type: ignore[arg-type]
    assert [heading.plain for heading, _ in lines] == ["user, unchanged", "user, changed", "user, control"]
