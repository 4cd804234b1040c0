from __future__ import annotations

import pandas as pd
import pyarrow as pa
import pytest

from contrapose.tasks.config.plan import plans
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core.records import Case, Completion, Score, Trial
from contrapose.tasks.evaluate.gate import Rules
from contrapose.tasks.evaluate.summarise import unscored_reasons
from contrapose.tasks.evaluate.task import judge
from contrapose.tasks.probes.base import unscored_score
from contrapose.tasks.probes.toxic_words import AddToxicWords
from contrapose.tasks.tables.results import result_table, schema_for
from contrapose.tasks.tables.table import write_arrow


def cases(*rows: tuple[object, object, str | None]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["pass", "error", "reason"], dtype=object)


@pytest.mark.parametrize(
    ("rows", "reasons"),
    [
        ([(True, None, "fine"), (None, "timeout", "no answer"), (None, None, "it is empty")], {"it is empty": 1}),
        ([(None, None, "a"), (None, None, "b"), (None, None, "b")], {"b": 2, "a": 1}),
        ([(None, None, None)], {"no reason given": 1}),
        ([(False, None, "too far")], {}),
        ([], {}),
    ],
)
def test_answered_cases_without_a_score_tell_why_the_commonest_reason_first(
    rows: list[tuple[object, object, str | None]], reasons: dict[str, int]
) -> None:
    assert list(unscored_reasons(cases(*rows)).items()) == list(reasons.items())


def test_a_stored_test_tells_why_its_cases_have_no_score(in_tmp: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTRAPOSE_STORAGE", "tables")
    (plan,) = plans(RunConfig.model_validate({"tests": {"sensitivity": {"add_toxic_words": {}}}}))
    scored = Score(value=0.0, passed=True, reason="none")
    scores = [scored, unscored_score("it is empty"), scored]
    probe = AddToxicWords()
    rows = result_table([trial(number) for number in range(3)], scores, probe=probe, model="mock")
    results = write_arrow([rows], schema_for(probe))
    skipped = write_arrow(
        [pa.table({"sample_id": ["s"], "skip_reason": ["empty"], "original": [""], "control": [False]})], NO_CASES
    )
    rules = Rules(min_pass_rate=0.65, max_error_share=0.02, gate="rate")
    data = {"source": "x", "sha256": "0", "rows": 4}
    outcome = judge.fn(plan=plan, cases=skipped, results=results, data=data, rules=rules)["outcome"]
    assert (outcome["unscored"], outcome["unscored_reasons"]) == (1, {"it is empty": 1})


NO_CASES = pa.schema(
    [*((name, pa.string()) for name in ("sample_id", "skip_reason", "original")), ("control", pa.bool_())]
)


def trial(number: int) -> Trial:
    case = Case(
        id=f"add_toxic_words/{number}",
        sample_id=str(number),
        probe="add_toxic_words",
        version="1",
        original="One.",
        perturbed="damn One.",
        original_prompt="One.",
        perturbed_prompt="damn One.",
        scorer="count",
        asks="generate",
    )
    return Trial(case=case, expected=Completion(text="a"), actual=Completion(text="a"))
