"""What a relation makes of a sample, and which replies pass."""

from __future__ import annotations

import random
import re
from typing import Any

import pandas as pd
import pytest
from embedders import embed_nothing

from contrapose.tasks.config.plan import plans
from contrapose.tasks.config.suite_files import load_config
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.records import Case, Completion, RelatedTexts, Score, Trial
from contrapose.tasks.core.registry import probe
from contrapose.tasks.core.user_functions import offer_functions
from contrapose.tasks.load.describing import describe_table
from contrapose.tasks.load.rows import Row
from contrapose.tasks.probes.relation import RelationSettings
from contrapose.tasks.probes.relation.figures import yield_relation_measures
from contrapose.tasks.probes.relation.judging import read_truth

RELATION: Any = probe("relation.mine")
GERMAN = {"text": "What do bees make?", "after": "Was machen Bienen?"}
OPTIONS = {"options": ("honey", "milk", "wool"), "options_after": ("Honig", "Milch", "Wolle"), "answers": ("honey",)}


def case_of(expect: Any = "stays", likelihoods: Any = "none", settings: Any = None, **sample: Any) -> Case:
    own = RelationSettings(expect=expect, **{"after": "after", **(settings or {})})
    texts = RelatedTexts(id="1", **{**GERMAN, **sample})
    return RELATION.cases(texts, own, rng=random.Random(0), likelihoods=likelihoods)[0]


def score_of(case: Case, before: str, after: str, expect: Any = "stays", **settings: Any) -> Score:
    own = RelationSettings(expect=expect, **{"after": "after", **settings})
    trial = Trial(case=case, expected=Completion(text=before), actual=Completion(text=after))
    return RELATION.score([trial], own, embed=embed_nothing)[0]


def test_a_name_makes_a_test_of_its_own() -> None:
    assert (RELATION.name, RELATION.where, RELATION.category) == ("relation.mine", "tests.relation.mine", "relation")
    assert probe("relation.mine") is probe("relation.mine")


def test_the_changed_prompt_has_its_own_options() -> None:
    case = case_of(**OPTIONS)
    assert "A. Honig" in (case.perturbed_prompt or "")
    assert "A. honey" in case.original_prompt


@pytest.mark.parametrize(
    ("expect", "before", "after", "passed"),
    [
        *(
            ("stays", "A. honey", after, passed)
            for after, passed in (("Honig", True), ("B. Milch", False), ("hm", None))
        ),
        *(("changes", "A", after, passed) for after, passed in (("B", True), ("A. Honig", False))),
        *(("not_worse", "A", after, passed) for after, passed in (("A", True), ("C", False), ("hm", None))),
        *(("not_worse", before, after, True) for before, after in (("B", "C"), ("hm", "A"))),
        ("not_worse", "hm", "C", None),
    ],
)
def test_options_are_compared_by_their_place(expect: str, before: str, after: str, passed: bool | None) -> None:
    assert score_of(case_of(expect, **OPTIONS), before, after, expect).passed is passed


@pytest.mark.parametrize(("after", "passed"), [("B", True), ("A", False), ("Milch", True), ("hm", None)])
def test_the_answer_becomes_that_of_the_column(after: str, passed: bool | None) -> None:
    expect = {"becomes": "answer_after"}
    case = case_of(expect, **OPTIONS, answers_after=("Milch",))
    assert score_of(case, "A", after, expect).passed is passed


@pytest.mark.parametrize(
    ("expect", "chance"), [("stays", 1 / 3), ("changes", 2 / 3), ("not_worse", None), ({"becomes": "x"}, 1 / 3)]
)
def test_random_guessing_among_options_is_known(expect: Any, chance: float) -> None:
    assert case_of(expect, **OPTIONS, answers_after=("Milch",)).chance == pytest.approx(chance)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, "not_english"),
        ({"after": GERMAN["text"]}, "unchanged"),
        ({**OPTIONS, "options_after": ("Honig", "Milch")}, "other_options"),
        ({**OPTIONS, "options_after": ("Honig", "Milch", "Milch")}, "equal_options"),
        ({"expect": "not_worse"}, "no_answer"),
        ({"expect": {"becomes": "x"}, "answers": ("honey",)}, "no_answer"),
        ({"after": "What is made by bees?"}, None),
        ({"expect": "not_worse", "answers": ("honey",)}, None),
        (OPTIONS, None),
    ],
)
def test_what_cannot_be_compared_is_not_asked(changes: dict[str, Any], reason: str | None) -> None:
    case = case_of(**changes)
    assert case.skip_reason == reason
    assert (case.perturbed_prompt is None) is (reason is not None)


def test_a_changed_context_is_shown_with_the_text() -> None:
    case = case_of(
        context="Bees are kept.", context_after="No bees are kept.", after=GERMAN["text"], answers=("honey",)
    )
    assert (case.original, case.perturbed, case.context) == (
        f"Bees are kept.\n\n{GERMAN['text']}",
        f"No bees are kept.\n\n{GERMAN['text']}",
        None,
    )
    assert case.original_prompt.startswith("Bees are kept.")


@pytest.mark.parametrize(
    ("returned", "expect", "passed"),
    [
        (True, "stays", True),
        (False, "stays", False),
        (False, "changes", True),
        (0.1, "stays", True),
        (0.5, "stays", False),
        (True, "not_worse", True),
        (-0.1, "not_worse", True),
        (-0.5, "not_worse", False),
        (None, "stays", None),
        (float("nan"), "stays", None),
        ("yes", "stays", None),
    ],
)
def test_a_function_decides(returned: Any, expect: str, passed: bool | None) -> None:
    with offer_functions(lambda first, second: returned) as (name,):
        case = case_of(expect, settings={"score": name})
        score = score_of(case, "one", "two", expect, score=name)
    assert score.passed is passed
    assert case.scorer == "function"


def test_a_function_that_fails_leaves_the_case_unscored() -> None:
    def broken(first: str, second: str) -> bool:
        raise LookupError(f"no number in {second}")

    with offer_functions(broken) as (name,):
        score = score_of(case_of(settings={"score": name}), "1", "none", score=name)
    assert score.passed is None
    assert "LookupError: no number in none" in score.reason


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        ("Tell me, what do bees make?", None),
        (None, "edit_skipped"),
        (GERMAN["text"], "unchanged"),
        (" ", "edit_skipped"),
    ],
)
def test_a_function_changes_the_text(made: str | None, reason: str | None) -> None:
    with offer_functions(lambda text: made) as (name,):
        case = case_of(settings={"after": None, "edit": name}, after=None)
    assert (case.perturbed, case.skip_reason) == (None if reason else made, reason)


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ("No, they do not.", "no"),
        ("Yes", "yes"),
        ("**No**", "no"),
        ("There is no reason to think so. Yes.", "yes"),
        ("The answer is no.", "no"),
        ("I know of no bees.", None),
        ("Yes. No.", None),
    ],
)
def test_yes_and_no_count_only_where_they_stand_for_themselves(reply: str, said: str | None) -> None:
    assert read_truth(reply) == said


def row(right: tuple[bool | None, bool | None], cluster: str, variant: str, **values: Any) -> dict[str, Any]:
    before, after = right
    known = before is not None and after is not None
    return {
        "control": False,
        "answer_known": True,
        "option_count": None,
        "right_before": before,
        "right_after": after,
        "right_both": bool(before and after) if known else None,
        "cluster": cluster,
        "variant": variant,
        "expectation": "becomes",
        **values,
    }


def test_a_cluster_is_consistent_where_all_variants_are_right() -> None:
    rows = [
        *(row((True, True), "all", name) for name in "123"),
        *(row((True, name != "2"), "wrong", name) for name in "123"),
        *(row((True, None if name == "2" else True), "unread", name) for name in "123"),
        *(row((None, name != "2"), "wrong and unread", name) for name in "123"),
        *(row((True, True), "without 3", name) for name in "12"),
    ]
    values = {m.name: m.values[~pd.isna(m.values)].tolist() for m in yield_relation_measures(pd.DataFrame(rows))}
    assert values["consistency"] == [1, 0, 0]
    assert values["consistency_1"] == [1, 1, 1, 1]
    assert values["consistency_2"] == [1, 0, 0, 1]


def test_right_answers_that_are_lost_decide_and_wrong_ones_do_not() -> None:
    rows = (
        [row((True, True), "a", "1")] * 15 + [row((True, False), "a", "1")] * 5 + [row((False, False), "a", "1")] * 30
    )
    (criterion,) = RELATION.criteria(pd.DataFrame(rows), RelationSettings(after="x", expect="not_worse"))
    assert (criterion.name, criterion.applies.sum(), criterion.met[criterion.applies].mean()) == (
        "right_after_rate",
        20,
        0.75,
    )
    assert not criterion.too_few


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({}, "neither after, edit nor variant"),
        ({"after": "a", "edit": "m:f"}, "after and edit"),
        ({"after": "a", "expect": "same"}, "expect"),
        ({"after": "a", "expect": "becomes"}, "becomes: COLUMN"),
        ({"variant": "v", "expect": "changes"}, "expect with variant"),
        ({"edit": "m:f", "options_after": "o"}, "options_after without after"),
        ({"edit": "m:f", "min_pass_rate": True}, "true or false; expected a number"),
    ],
)
def test_settings_that_cannot_be_meant_are_refused(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        RelationSettings(**settings)


@pytest.mark.parametrize(("right", "rate"), [(True, 1.0), (False, 0.0)])
def test_an_answer_that_stays_has_to_be_right_where_that_is_known(right: bool, rate: float) -> None:
    rows = [row((right, right), "a", "1", answer_changed=False, option_count=3)] * 20
    (criterion,) = RELATION.criteria(pd.DataFrame(rows), RelationSettings(after="x"))
    assert (criterion.name, criterion.wanted, criterion.met.mean()) == ("right_rate", pytest.approx(0.4), rate)


@pytest.mark.parametrize(
    ("sample", "said"),
    [
        (OPTIONS, "A\nhonig"),
        ({**OPTIONS, "options_after": ()}, "A\nhoney"),
        ({**OPTIONS, "answers_after": ("Milch",)}, "B\nmilch"),
        ({"answers": ("Yes", "yes ", "Sure")}, "yes\nsure"),
        ({}, None),
    ],
)
def test_a_row_knows_which_answers_are_right_after_the_change(sample: dict[str, Any], said: str | None) -> None:
    expect = "not_worse" if "answers" in sample else "stays"
    assert score_of(case_of(expect, **sample), "A", "B", expect).columns.get("right_answer") == said


def skewed(counts: dict[str, int], **values: Any) -> pd.DataFrame:
    rows = [
        row((True, True), "a", "1", right_answer=said, **values) for said, times in counts.items() for _ in "1" * times
    ]
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    ("counts", "settings", "expected"),
    [
        ({"B\nhoney": 20, "B\nmilk": 10}, {}, (1.0, 1.0, "B")),
        ({"A\nyes": 14, "B\nyes": 15, "A\nno": 1}, {}, (29 / 30, 1 - 0.9 / 30, "yes")),
        ({"A\nyes": 20, "B\nno": 10}, {}, (2 / 3, 0.7, "A")),
        ({"A\nyes": 24, "B\nno": 6}, {"min_right_rate": 0.7}, (0.8, 0.7, "A")),
        ({"A\na": 10, "B\nb": 10, "C\nc": 10}, {}, (1 / 2, 0.7, "")),
    ],
)
def test_the_rate_of_one_constant_answer_is_known(
    counts: dict[str, int], settings: dict[str, Any], expected: tuple[float, float, str]
) -> None:
    own = RelationSettings(after="x", expect="not_worse", **settings)
    (criterion,) = RELATION.criteria(skewed(counts, option_count=2), own)
    assert (criterion.chance, criterion.wanted, criterion.constant) == (
        pytest.approx(expected[0]),
        pytest.approx(expected[1]),
        expected[2],
    )


def test_a_constant_answer_is_known_where_the_answer_should_stay() -> None:
    (criterion,) = RELATION.criteria(
        skewed({"B\nhoney": 30}, answer_changed=False, option_count=3), RelationSettings(after="x")
    )
    assert (criterion.name, criterion.chance, criterion.constant) == ("right_rate", 1.0, "B")


def test_a_constant_answer_is_known_where_only_answers_after_the_change_are() -> None:
    rows = skewed({"no": 30}, answer_known=False)
    assert RELATION.guessed_rate(rows) == (1.0, "no")
    assert RELATION.guessed_rate(rows.assign(expectation="stays")) is None


def test_a_function_that_decides_needs_no_right_answers_before() -> None:
    settings = RelationSettings(after="x", expect="not_worse", score="m:f")
    assert RELATION.criteria(skewed({"no": 30}), settings) == []


def test_without_options_a_reply_that_stays_needs_no_answer() -> None:
    assert RELATION.criteria(pd.DataFrame([row((True, True), "a", "1")]), RelationSettings(after="x")) == []


@pytest.mark.parametrize(
    ("expect", "words"),
    [
        ("better", "tests.relation.x.expect: 'better'; expected stays, changes, not_worse, or becomes: COLUMN."),
        ({"become": "y"}, "tests.relation.x.expect.become: unknown key 'become'; expected one of becomes."),
    ],
)
def test_a_wrong_expectation_names_no_inner_key(expect: Any, words: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(words)) as error:
        load_config({"suite": "x", "tests": {"relation": {"x": {"after": "b", "expect": expect}}}})
    assert "literal" not in str(error.value)
    assert "Becomes" not in str(error.value)


def test_columns_of_another_relation_are_no_forgotten_part_of_the_question() -> None:
    related = {"de": {"after": "german"}, "fr": {"after": "french", "options_after": "un,deux"}}
    config, _ = load_config({"suite": "x", "tests": {"relation": related}, "data": "x.csv"})
    other = "This is a part of the question that nobody reads."
    texts = {"question": "What do bees make?", "german": f"{other} 1", "french": f"{other} 2", "passage2": f"{other} 3"}
    for plan in plans(config):
        (warning,) = describe_table([Row(number=1, values=texts)], plan.data, RelatedTexts).warnings
        assert "passage2" in warning


def test_a_relation_may_have_the_name_of_another_test() -> None:
    config, warnings = load_config(
        {"suite": "x", "tests": {"relation": {"negation": {"after": "b"}, "typo": {"after": "b"}}}}
    )
    assert [plan.test for plan in plans(config)] == ["relation.negation", "relation.typo"]
    assert warnings == []
