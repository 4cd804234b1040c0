"""Our own prompts are templates that a suite could bring."""

from __future__ import annotations

from importlib.resources import files

import pytest

from contrapose.tasks.probes.item_order import ItemOrderSettings
from contrapose.tasks.probes.judge_order import JudgeOrderSettings
from contrapose.tasks.probes.order_bias import OrderBiasSettings
from contrapose.tasks.probes.own_prompt import built_in_wordings, check_template
from contrapose.tasks.probes.prompt_settings import PromptSettings

OURS = {
    "text": PromptSettings,
    "order_bias": OrderBiasSettings,
    "judge_order": JudgeOrderSettings,
    "item_order": ItemOrderSettings,
}


@pytest.mark.parametrize("name", OURS)
def test_our_own_prompts_are_templates_that_a_suite_could_bring(name: str) -> None:
    for content in built_in_wordings(name):
        check_template(content, known=(*OURS[name].variables, "introduction"), needed=OURS[name].needed)


def test_every_prompt_of_ours_is_checked() -> None:
    entries = files("contrapose.data").joinpath("prompts").iterdir()
    assert {entry.name for entry in entries} == {"wordings.yaml", *(f"{name}.j2" for name in OURS)}
