"""Plain templates come out as Jinja makes them, and our own prompts are such."""

from __future__ import annotations

from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import StrictUndefined
from jinja2.sandbox import ImmutableSandboxedEnvironment

from contrapose.tasks.probes.own_prompt import check_template
from contrapose.tasks.probes.templates import LIST, PAIR, TEXT, default_prompt, plain

NAMES = (*TEXT, *PAIR)
JINJA = ImmutableSandboxedEnvironment(undefined=StrictUndefined, autoescape=False)
PIECES = (
    *(f"{{{{ {name} }}}}" for name in NAMES[:5]),
    *(f"{{% if {name} %}}" for name in NAMES[:5]),
    *(
        "{% else %}",
        "{% endif %}",
        "{%else%}",
        "{%endif%}",
        "{{text}}",
        "{{ text|upper }}",
        "{%- if text %}",
        "{{ no }}",
    ),
    *(
        "{",
        "}",
        "{{",
        "}}",
        "{%",
        "%}",
        "{#",
        "#}",
        "%",
        "%s",
        "%(text)s",
        "%%",
        " ",
        "\n",
        "\n\n",
        "\r\n",
        "\\",
        "é",
        "x",
    ),
)
WORDS = st.sampled_from(["", "a", "{{ text }}", "%s", "\n b\r\n", "ß"])
VALUES = st.fixed_dictionaries(dict.fromkeys(NAMES, WORDS))
NESTED = (
    "{% if text %}{% if options %}1{{ ask }}{% else %}2{% endif %}{% else %}3{% if options %}4{% endif %}5{% endif %}"
)


@given(template=st.lists(st.sampled_from(PIECES), max_size=8).map("".join), values=VALUES)
def test_what_is_filled_in_as_a_format_is_what_jinja_makes(template: str, values: dict[str, str]) -> None:
    form = plain(template)
    if form is not None:
        assert form.fill(values) == JINJA.from_string(template).render(values)


@given(values=VALUES)
def test_conditions_within_conditions(values: dict[str, str]) -> None:
    template = f"{NESTED}\n"
    form = plain(template)
    assert form is not None
    assert form.fill(values) == JINJA.from_string(template).render(values)


@pytest.mark.parametrize(
    "template",
    ["{{ text|upper }}", "{{ other }}", "{% if text == 'x' %}y{% endif %}", "{{ text -}} x", "a\r\nb{{ text }}"],
)
def test_what_takes_more_is_left_to_jinja(template: str) -> None:
    assert plain(template) is None


@pytest.mark.parametrize(
    ("name", "known"), [("text", TEXT), ("order_bias", PAIR), ("judge_order", PAIR), ("item_order", LIST)]
)
@pytest.mark.parametrize("empty", [(), ("options", "reference")])
def test_our_own_prompts_are_templates_that_a_suite_could_bring(
    name: str, known: tuple[str, ...], empty: tuple[str, ...]
) -> None:
    content = files("contrapose.data").joinpath("prompts", f"{name}.j2").read_text(encoding="utf-8")
    check_template(content, known=known, needed=())
    values = {variable: "" if variable in empty else f"<{variable}>" for variable in (*TEXT, *PAIR, *LIST)}
    assert default_prompt(name).fill(values) == JINJA.from_string(content).render(values)


def test_every_prompt_of_ours_is_among_them() -> None:
    entries = files("contrapose.data").joinpath("prompts").iterdir()
    assert {entry.name for entry in entries} == {
        f"{name}.j2" for name in ("text", "order_bias", "judge_order", "item_order")
    }


def test_the_prompt_of_two_summaries_is_that_of_the_probe() -> None:
    import random

    from contrapose.tasks.core.records import SummaryPair
    from contrapose.tasks.probes.order_bias import OrderBias, OrderBiasSettings

    pair = SummaryPair(id="1", article_sentence="It is 5 %.", correct_sentence="Five.", incorrect_sentence="Six.")
    [case] = OrderBias().cases(pair, OrderBiasSettings(), rng=random.Random(0), likelihoods="all")
    question = "Which summary is consistent with the article, A or B?"
    values = {"article": "It is 5 %.", "first": "Five.", "second": "Six.", "question": question}
    assert case.original_prompt == default_prompt("order_bias").fill(values)
