"""The manifests fit the schemas of Kubernetes, and what they create can do little."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from linters import DEPLOYMENTS, understood
from prefect.utilities.templating import apply_values

import contrapose
from contrapose.flows.deploy.deploy import POOL
from contrapose.tasks.core.outcome import EXIT_CODES

FOLDER = DEPLOYMENTS / "kubernetes"
TEMPLATE: dict[str, Any] = json.loads((FOLDER / "base-job-template.json").read_text())
JOB: dict[str, Any] = yaml.safe_load((FOLDER / "job.yaml").read_text())
WORKER: dict[str, dict[str, Any]] = {
    each["kind"]: each for each in yaml.safe_load_all((FOLDER / "worker.yaml").read_text())
}
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


MAKERS = {"job": JOB, "work pool": rendered(), "worker": WORKER["Deployment"]}
"""What creates pods."""


def pod_of(maker: str) -> dict[str, Any]:
    """The specification of the pods that something creates."""
    pod: dict[str, Any] = MAKERS[maker]["spec"]["template"]["spec"]
    return pod


def check(manifest: dict[str, Any]) -> None:
    """Hold a manifest against the schema of its kind; unknown fields count as errors."""
    reason = "kubernetes-validate is not installed: it comes with the extra dev"
    validator = pytest.importorskip("kubernetes_validate", reason=reason)
    manifest["metadata"].setdefault("name", "named-by-the-cluster")
    validator.validate(manifest, "1.31", strict=True)


@pytest.mark.parametrize("name", ["job.yaml", "storage.yaml", "worker.yaml"])
def test_a_manifest_fits_its_schema(name: str) -> None:
    for each in yaml.safe_load_all((FOLDER / name).read_text()):
        check(each)


def test_the_job_of_a_work_pool_fits_its_schema() -> None:
    check(rendered(service_account_name="runner", gpus="1"))


@pytest.mark.parametrize("maker", MAKERS)
def test_a_pod_is_nobody_can_do_little_and_has_bounds_and_a_versioned_image(maker: str) -> None:
    pod = pod_of(maker)
    assert pod["securityContext"]["runAsNonRoot"]
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert pod["automountServiceAccountToken"] is (maker == "worker")
    (container,) = pod["containers"]
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert {"cpu", "memory", "ephemeral-storage"} <= container["resources"]["limits"].keys()
    assert container["image"] == f"contrapose:{contrapose.__version__}"


def test_the_job_and_the_worker_run_commands_that_exist() -> None:
    assert understood(JOB["spec"]["template"]["spec"]["containers"][0]["args"])
    (container,) = pod_of("worker")["containers"]
    assert container["args"][:5] == ["prefect", "worker", "start", "--pool", POOL]


@pytest.mark.parametrize("maker", ["job", "work pool"])
def test_secrets_come_from_a_secret(maker: str) -> None:
    (container,) = pod_of(maker)["containers"]
    secret = {each["name"] for each in container["env"] if "secretKeyRef" in each.get("valueFrom", {})}
    assert {"OPENAI_API_KEY", "CONTRAPOSE_STORE"} <= secret
    assert {each["name"] for each in container["env"] if "value" in each} <= {"PREFECT_SERVER_DATABASE_CONNECTION_URL"}


def test_the_password_of_the_server_comes_from_the_secret_for_worker_and_jobs() -> None:
    (container,) = pod_of("worker")["containers"]
    told = {each["name"]: each.get("value", each.get("valueFrom")) for each in container["env"]}
    secret = told["PREFECT_API_AUTH_STRING"]["secretKeyRef"]
    prefix = "PREFECT_INTEGRATIONS_KUBERNETES_WORKER_API_AUTH_STRING_SECRET"
    assert (told[f"{prefix}_NAME"], told[f"{prefix}_KEY"]) == (secret["name"], secret["key"])


def test_the_worker_may_make_watch_and_delete_jobs_and_nothing_else() -> None:
    rights = {
        (resource, verb) for rule in WORKER["Role"]["rules"] for resource in rule["resources"] for verb in rule["verbs"]
    }
    assert rights == {
        *(("jobs", verb) for verb in ("create", "delete", "get", "list", "watch")),
        *(("pods", verb) for verb in ("list", "watch")),
        ("pods/log", "get"),
    }


def test_the_rights_go_to_the_account_of_the_worker_where_it_watches() -> None:
    (container,) = pod_of("worker")["containers"]
    told = {each["name"]: each.get("value") for each in container["env"]}
    (subject,) = WORKER["RoleBinding"]["subjects"]
    assert WORKER["RoleBinding"]["roleRef"]["name"] == WORKER["Role"]["metadata"]["name"]
    assert subject["name"] == WORKER["ServiceAccount"]["metadata"]["name"] == pod_of("worker")["serviceAccountName"]
    jobs = TEMPLATE["variables"]["properties"]["namespace"]["default"]
    assert told["PREFECT_INTEGRATIONS_KUBERNETES_OBSERVER_NAMESPACES"] == subject["namespace"] == jobs


def test_neither_a_verdict_nor_a_mistake_nor_a_spent_budget_is_tried_again() -> None:
    final = {
        code
        for rule in JOB["spec"]["podFailurePolicy"]["rules"]
        for code in rule.get("onExitCodes", {}).get("values", [])
    }
    # 2 is a mistake in the configuration; 0 is no failure.
    assert final == {*EXIT_CODES.values(), 2} - {0}


def test_every_variable_of_the_template_is_used_and_described() -> None:
    text = json.dumps(TEMPLATE["job_configuration"])
    for name, variable in TEMPLATE["variables"]["properties"].items():
        assert f"{{{{ {name} }}}}" in text
        assert variable["title"]
        assert variable["description"]
