from __future__ import annotations

from typing import Any

import pytest
from attacks import ATTACKS, steering
from rich.console import Console

from contrapose.tasks.core.records import Case
from contrapose.tasks.report.preview import PreviewTally, print_indented, sample_lines, section
from contrapose.tasks.text.masking import make_shower


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
    return [line.plain for line in section(title, "data", tally)]


def printed(*cases: Case, colour: bool = False) -> str:
    console = Console(width=80, force_terminal=colour)
    with console.capture() as captured:
        for heading, text in sample_lines(cases, make_shower(show_toxic=False), brackets=not colour):
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
    from contrapose.tasks.report.preview import sent_lines

    cases = [case(wording=1), case(wording=1, control=True), case(wording=2), case(wording=2, control=True)]
    lines = sent_lines(cases, ModelSpec(id="mock"), str, chat=True, brackets=True)  # type: ignore[arg-type]
    assert [heading.plain for heading, _ in lines] == ["user, unchanged", "user, changed", "user, control"]
