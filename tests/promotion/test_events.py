"""The event `model.retrained`: its payload is whole, or it is not sent."""

from __future__ import annotations

import pytest
import yaml
from places import REPOSITORY

from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.promotion.settings import RETRAINED, resource, retrained_payload


def test_the_payload_has_every_key_that_the_automation_reads() -> None:
    automation = yaml.safe_load((REPOSITORY / "deployments" / "automations" / "model_retrained.yaml").read_text())
    payload = retrained_payload("hf/team/model", revision="v2", training_run="")
    templates = automation["actions"][0]["parameters"]
    assert {key for key in templates if f"event.payload.{key} " in templates[key]} == set(payload)
    assert set(templates) == {*payload, "announced"}
    assert automation["trigger"]["expect"] == [RETRAINED]
    prefix = automation["trigger"]["match"]["prefect.resource.id"].removesuffix("*")
    assert resource("hf/team/model")["prefect.resource.id"].startswith(prefix)


@pytest.mark.parametrize("model", ["", " hf/a", "hf/a\n", "x" * 501, "hf/\x00a"])
def test_a_model_that_is_none_is_refused(model: str) -> None:
    with pytest.raises(ConfigError, match="model"):
        retrained_payload(model, revision="v2", training_run="")


def test_a_training_that_nothing_tells_from_another_is_refused() -> None:
    with pytest.raises(ConfigError, match="two trainings look the same"):
        retrained_payload("hf/team/model", revision="", training_run="")
