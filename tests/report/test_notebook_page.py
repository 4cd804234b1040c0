"""What a notebook shows of an outcome: figures and reasons, every text escaped, toxic words masked, colours its own."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from attacks import ATTACKS, steering
from contrast import contrast_with_white
from factories import gate, outcome, summary
from hostile import hostile_report
from test_comparison import compared

from contrapose import ComparedRuns, ContraposeError, EvaluatedRun
from contrapose.tasks.core.outcome import Summary
from contrapose.tasks.report.notebook import COLOURS

TAGS = {"div", "strong", "span", "table", "thead", "tbody", "tr", "th", "td"}


class Seen(HTMLParser):
    """The tags, attributes and text of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[tuple[str, str | None]] = set()
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= set(attrs)

    def handle_data(self, data: str) -> None:
        self.text += data


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
            assert seen.tags <= TAGS, ascii(text)
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
