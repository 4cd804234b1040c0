"""The manifests fit the schemas of Kubernetes, and what they create can do little."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from linters import DEPLOYMENTS, understood
from prefect.utilities.templating import apply_values

FOLDER = DEPLOYMENTS / "kubernetes"
TEMPLATE: dict[str, Any] = json.loads((FOLDER / "base-job-template.json").read_text())
JOB: dict[str, Any] = yaml.safe_load((FOLDER / "job.yaml").read_text())
# What Prefect's worker fills in besides the variables' defaults.
FILLED = {"name": "evening-otter", "labels": {}, "annotations": {}, "command": ["prefect", "flow-run", "execute"]}


def rendered(**values: Any) -> dict[str, Any]:
    """The job that the work pool's template becomes with its defaults and some values."""
    defaults = {name: each["default"] for name, each in TEMPLATE["variables"]["properties"].items()}
    manifest: dict[str, Any] = apply_values(TEMPLATE["job_configuration"], {**defaults, **FILLED, **values})[
        "job_manifest"
    ]
    # Prefect's own template puts these two where Kubernetes has no such field, and its worker insists on them.
    for name in ("parallelism", "completions"):
        del manifest["spec"]["template"]["spec"][name]
    return manifest


def check(manifest: dict[str, Any]) -> None:
    """Hold a manifest against the schema of its kind; unknown fields count as errors."""
    reason = "kubernetes-validate is not installed: it comes with the extra dev"
    validator = pytest.importorskip("kubernetes_validate", reason=reason)
    manifest["metadata"].setdefault("name", "named-by-the-cluster")
    validator.validate(manifest, "1.31", strict=True)


@pytest.mark.parametrize("name", ["job.yaml", "storage.yaml"])
def test_a_manifest_fits_its_schema(name: str) -> None:
    check(yaml.safe_load((FOLDER / name).read_text()))


def test_the_job_of_a_work_pool_fits_its_schema() -> None:
    check(rendered(service_account_name="runner", gpus="1"))


@pytest.mark.parametrize("job", [JOB, rendered()], ids=["job", "work pool"])
def test_a_pod_is_nobody_and_can_do_little(job: dict[str, Any]) -> None:
    pod = job["spec"]["template"]["spec"]
    assert pod["securityContext"]["runAsNonRoot"]
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert pod["automountServiceAccountToken"] is False
    (container,) = pod["containers"]
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }


@pytest.mark.parametrize("job", [JOB, rendered()], ids=["job", "work pool"])
def test_a_pod_has_bounds_and_a_versioned_image(job: dict[str, Any]) -> None:
    (container,) = job["spec"]["template"]["spec"]["containers"]
    assert {"cpu", "memory", "ephemeral-storage"} <= container["resources"]["limits"].keys()
    assert container["image"] == "contrapose:0.1.0"


@pytest.mark.parametrize("job", [JOB, rendered()], ids=["job", "work pool"])
def test_secrets_come_from_a_secret(job: dict[str, Any]) -> None:
    (container,) = job["spec"]["template"]["spec"]["containers"]
    secret = {each["name"] for each in container["env"] if "secretKeyRef" in each.get("valueFrom", {})}
    assert {"OPENAI_API_KEY", "CONTRAPOSE_STORE"} <= secret
    assert {each["name"] for each in container["env"] if "value" in each} <= {"PREFECT_HOME"}


def test_the_job_runs_a_command_that_exists() -> None:
    assert understood(JOB["spec"]["template"]["spec"]["containers"][0]["args"])


def test_a_verdict_is_not_tried_again_and_an_incomplete_run_is() -> None:
    final = {
        code
        for rule in JOB["spec"]["podFailurePolicy"]["rules"]
        for code in rule.get("onExitCodes", {}).get("values", [])
    }
    assert final == {1, 2, 3}


def test_every_variable_of_the_template_is_used_and_described() -> None:
    text = json.dumps(TEMPLATE["job_configuration"])
    for name, variable in TEMPLATE["variables"]["properties"].items():
        assert f"{{{{ {name} }}}}" in text
        assert variable["title"]
        assert variable["description"]
