"""Deployments: each leads to a flow and carries parameters that the flow and its form accept."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest
import yaml
from places import REPOSITORY
from prefect import Flow
from prefect.utilities.callables import parameter_schema
from prefect.utilities.schema_tools.validation import validate

from contrapose.flows.orchestration.form import read_form
from contrapose.tasks.config.run_config import RunConfig

DEPLOYMENTS: list[dict[str, Any]] = yaml.safe_load((REPOSITORY / "deployments" / "prefect.yaml").read_text())[
    "deployments"
]


@pytest.mark.parametrize("deployment", DEPLOYMENTS, ids=lambda each: each["name"])
def test_a_deployment_leads_to_a_flow_and_fits_it(deployment: dict[str, Any]) -> None:
    module, _, name = deployment["entrypoint"].rpartition(".")
    flow = getattr(import_module(module), name)
    assert isinstance(flow, Flow)
    assert isinstance(read_form(deployment["parameters"]["config"]), RunConfig)
    schema = parameter_schema(flow).model_dump_for_openapi()
    assert validate(deployment["parameters"], schema, ignore_required=True) == []
