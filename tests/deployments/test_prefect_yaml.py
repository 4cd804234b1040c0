"""Deployments: each leads to a flow and carries a configuration that the flow accepts."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest
import yaml
from conftest import REPOSITORY
from prefect import Flow

from contrapose.tasks.config import RunConfig

DEPLOYMENTS: list[dict[str, Any]] = yaml.safe_load((REPOSITORY / "deployments" / "prefect.yaml").read_text())[
    "deployments"
]


@pytest.mark.parametrize("deployment", DEPLOYMENTS, ids=lambda each: each["name"])
def test_a_deployment_leads_to_a_flow_and_fits_it(deployment: dict[str, Any]) -> None:
    module, _, name = deployment["entrypoint"].rpartition(".")
    assert isinstance(getattr(import_module(module), name), Flow)
    assert RunConfig.model_validate(deployment["parameters"]["config"]).suite == "quickstart"
