"""No reply that fits the changed prompt is called a failure: what failed gives an answer that is wrong there."""

from __future__ import annotations

import pytest
from asked_prompts import known
from planted_judges import JUDGES
from planted_model import PlantedModel
from played import bundled, results

from contrapose.tasks.core.registry import probe
from contrapose.tasks.probes.edits.base import TextEdit
from contrapose.tasks.report import rows as report_rows


@pytest.mark.parametrize("judge", ["coin", "always A", "arbitrary", "always wrong", "never negates"])
@pytest.mark.parametrize("test", ["add_negation", "antonym", "change_number"])
def test_what_failed_gives_the_answer_that_the_change_made_wrong(test: str, judge: str) -> None:
    prepared = bundled(test)
    assert isinstance(probe(test), TextEdit)
    cases = {case.id: case for case in prepared.cases}
    rows = report_rows.omit_controls(results(PlantedModel(JUDGES[judge], known(prepared.cases)), prepared))
    became = report_rows.classify(rows)
    assert set(became) <= {"pass", "fail", "wrong before", "unscored"}
    for (_, row), outcome in zip(rows.iterrows(), became, strict=True):
        case = cases[row["case_id"]]
        if not case.answers or not case.options or not isinstance(row["chosen_after"], str):
            continue
        chosen = case.options[case.labels.index(row["chosen_after"])]
        if outcome == "fail":
            assert chosen in case.answers, (row["case_id"], chosen)
        elif outcome == "wrong before":
            assert chosen not in case.answers
