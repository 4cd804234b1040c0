"""What the doctor finds on a Prefect server: everything deployed, or parts of it gone, old, idle or silent."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from prefect.blocks.notifications import CustomWebhookNotificationBlock
from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.filters import FlowRunFilter
from prefect.client.schemas.objects import State, StateType
from prefect.exceptions import ObjectNotFound

from contrapose.flows.cli import main
from contrapose.flows.cli.doctor import deployed
from contrapose.flows.cli.doctor.deployed import TAG, ServerState, read_entrypoints, read_server
from contrapose.flows.cli.doctor.local import DoctorFinding
from contrapose.flows.deploy.automations import find_blocks, read_automations, update_automation
from contrapose.flows.deploy.deploy import POOL, _make_pool

LATE = State(type=StateType.SCHEDULED, name="Late")
RUNNING = State(type=StateType.RUNNING)
Held = Callable[..., dict[str, DoctorFinding]]
SECRET = "a long text that nobody guesses"


@pytest.fixture
def client(prefect_server: None) -> Iterator[SyncPrefectClient]:
    """The tests' server, with nothing deployed on it before and after."""
    with get_client(sync_client=True) as found:
        clear(found)
        yield found
        clear(found)


@pytest.fixture
def ids(client: SyncPrefectClient) -> dict[str, UUID]:
    """Ids of the deployments on a server to which everything was deployed, without a worker or a block."""
    return deploy_all(client)


@pytest.fixture(scope="module")
def content(prefect_server: None) -> ServerState:
    """What a server holds to which everything was deployed, with a worker and a block for alerts."""
    with get_client(sync_client=True) as client:
        clear(client)
        deploy_all(client)
        name_block(client)
        show_worker(client)
        found = read_server()
        clear(client)
    return found


@pytest.fixture
def held(content: ServerState, monkeypatch: pytest.MonkeyPatch) -> Held:
    """What is found, by name, where some of that is other than it was."""

    def looked(**changes: Any) -> dict[str, DoctorFinding]:
        monkeypatch.setattr(deployed, "read_server", lambda: replace(content, **changes))
        return found()

    return looked


def clear(client: SyncPrefectClient) -> None:
    with suppress(ObjectNotFound):
        client.delete_work_pool(POOL)
    started = FlowRunFilter.model_validate({"deployment_id": {"is_null_": False}})
    for run in client.read_flow_runs(flow_run_filter=started):
        client.delete_flow_run(run.id)
    for each in client.read_deployments():
        client.delete_deployment(each.id)
    for automation in client.read_automations():
        client.delete_automation(automation.id)


def deploy_all(client: SyncPrefectClient) -> dict[str, UUID]:
    """As the command does, without the seconds of Prefect's own."""
    _make_pool(client)
    made = {name: create(client, name, entrypoint) for name, entrypoint in read_entrypoints().items()}
    for each in read_automations():
        update_automation(client, each, [])
    return made


def create(client: SyncPrefectClient, name: str, entrypoint: str, **given: Any) -> UUID:
    flow = client.create_flow_from_name(entrypoint.rpartition(".")[2].replace("_", "-"))
    usual: dict[str, Any] = {"work_pool_name": POOL, "version": version("contrapose"), "tags": [TAG]}
    return client.create_deployment(flow_id=flow, name=name, entrypoint=entrypoint, **{**usual, **given})


def name_block(client: SyncPrefectClient) -> UUID:
    """Send every alert through a block."""
    team = CustomWebhookNotificationBlock(name="team", url="http://127.0.0.1:9/", json_data={"text": "{{body}}"})
    made = team.save("doctor", overwrite=True)
    for each in read_automations():
        update_automation(client, each, find_blocks(client, ["custom-webhook/doctor"]))
    return UUID(str(made))


def show_worker(client: SyncPrefectClient) -> None:
    """A sign of life from one."""
    client.send_worker_heartbeat(POOL, "worker", heartbeat_interval_seconds=60)


def found() -> dict[str, DoctorFinding]:
    return {each.name: each for each in deployed.check_deployed()}


@pytest.mark.usefixtures("client")
def test_a_server_to_which_nothing_was_deployed_is_no_problem() -> None:
    (only,) = deployed.check_deployed()
    assert only.state == "ok"
    assert only.remedy.endswith("contrapose deploy")


def test_everything_at_work_needs_no_remedy(held: Held) -> None:
    told = held()
    assert list(told) == ["work pool", "deployments", "automations", "alerts"]
    assert not any(each.remedy or each.state != "ok" for each in told.values())


@pytest.mark.usefixtures("ids")
def test_without_a_worker_and_a_block_both_are_told() -> None:
    told = found()
    assert {name for name, each in told.items() if each.state == "warning"} == {"work pool", "alerts"}
    assert told["work pool"].remedy == "prefect worker start --pool contrapose"
    assert "contrapose deploy --notify TYPE/NAME" in told["alerts"].remedy


def test_a_run_that_is_overdue_is_a_problem_where_no_worker_is(
    client: SyncPrefectClient, ids: Mapping[str, UUID]
) -> None:
    for _ in range(2):
        client.create_flow_run_from_deployment(ids["nightly"], state=LATE)
    alone = found()
    show_worker(client)
    attended = found()
    assert (alone["work pool"].state, attended["work pool"].state) == ("problem", "ok")
    assert alone["overdue runs"] == attended["overdue runs"]
    assert alone["overdue runs"].observed.startswith("2 runs, the first since 2")


def test_a_run_under_way_is_doubted_where_no_worker_is(client: SyncPrefectClient, ids: Mapping[str, UUID]) -> None:
    client.create_flow_run_from_deployment(ids["nightly"], state=RUNNING)
    alone = found()["runs under way"]
    show_worker(client)
    attended = found()["runs under way"]
    assert (alone.state, attended.state) == ("warning", "ok")
    assert attended.observed.startswith("1 run, since 2")


def test_what_somebody_else_deployed_is_not_ours(client: SyncPrefectClient, ids: Mapping[str, UUID]) -> None:
    client.delete_deployment(ids["nightly"])
    client.create_flow_run_from_deployment(create(client, "nightly", "own.flow", tags=["own"]), state=RUNNING)
    told = found()
    assert told["deployments"].observed == "missing: nightly"
    assert "runs under way" not in told


def test_a_block_that_is_gone_is_a_problem(client: SyncPrefectClient, ids: Mapping[str, UUID]) -> None:
    client.delete_block_document(name_block(client))
    told = found()["alerts"]
    assert (told.state, "failed" in told.observed) == ("problem", True)
    assert "--notify" in told.remedy


def test_an_automation_that_starts_what_is_gone_is_a_problem(
    client: SyncPrefectClient, ids: Mapping[str, UUID]
) -> None:
    client.delete_deployment(ids["retraining-check"])
    told = found()
    assert (told["deployments"].state, told["deployments"].observed) == ("warning", "missing: retraining-check")
    assert (told["automations"].state, told["automations"].observed[-16:]) == ("problem", "-model-retrained")


EVIL = "1\x1b[31m\nproblem http://user:hunter2@host"
OLD = f"not of version {version('contrapose')}, as here: nightly 0.0.9"
Change = Callable[[ServerState], dict[str, Any]]


@pytest.mark.parametrize(
    ("change", "name", "state", "observed", "remedy"),
    [
        (lambda _: {"pool": None}, "work pool", "problem", "", ""),
        (lambda on: {"pool": altered(on.pool, is_paused=True)}, "work pool", "warning", "", "pool resume contrapose"),
        (
            lambda on: {"pool": altered(on.pool, active_slots=2, concurrency_limit=2)},
            *("work pool", "ok", "all its slots are taken", ""),
        ),
        (lambda on: {"deployments": nightly(on, version="0.0.9")}, "deployments", "warning", OLD, "contrapose deploy"),
        (lambda on: {"deployments": nightly(on, paused=True)}, "deployments", "ok", "; paused: nightly", ""),
        (lambda on: {"deployments": nightly(on, version=EVIL)}, "deployments", "warning", "1 problem http://host", ""),
        (
            lambda on: {"automations": without(on, "contrapose-crashed")},
            *("automations", "warning", "missing: contrapose-crashed", ""),
        ),
        (
            lambda on: {"automations": switched_off(on, "contrapose-lost")},
            *("automations", "warning", "switched off: contrapose-lost", "automation resume contrapose-lost"),
        ),
        (
            lambda on: {"automations": without(on, "contrapose-late")},
            *("alerts", "warning", "no block is named for late", ""),
        ),
    ],
    ids=["no pool", "paused pool", "full pool", "older", "paused", "evil version", "gone", "off", "no block"],
)
def test_what_is_other_than_it_was_deployed_is_told_with_a_remedy(
    change: Change, name: str, state: str, observed: str, remedy: str, content: ServerState, held: Held
) -> None:
    told = held(**change(content))[name]
    assert (told.state, told.observed[-len(observed) :] if observed else "") == (state, observed)
    assert remedy in told.remedy


@pytest.mark.parametrize(("secret", "state"), [("", "warning"), ("hunter2", "warning"), (SECRET, "ok")])
@pytest.mark.usefixtures("prefect_server")
def test_the_secret_of_a_promotion_is_looked_for_and_not_told(
    content: ServerState, held: Held, monkeypatch: pytest.MonkeyPatch, secret: str, state: str
) -> None:
    monkeypatch.setenv("CONTRAPOSE_WEBHOOK_SECRET", secret)
    told = held(deployments=promoting(content, webhook="https://hooks.example/promoted"))["promotion"]
    assert told.state == state
    assert not secret or secret not in str(told)


@pytest.mark.parametrize(
    ("deployed_for", "here", "told"),
    [
        ("", "", ["its host is not listed, and is not called"]),
        ("https://other.example", "", ["its host is not listed, and is not called"]),
        ("", "a*b", ["'a*b' names no host"]),
        ("https://hooks.example", "", []),
        ("", "hooks.example", []),
    ],
)
def test_a_webhook_that_was_deployed_before_hosts_were_listed_is_told(
    deployed_for: str, here: str, told: list[str], content: ServerState, held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONTRAPOSE_WEBHOOK_SECRET", SECRET)
    monkeypatch.setenv("CONTRAPOSE_WEBHOOK_HOSTS", here)
    check = promoting(content, webhook="https://hooks.example/promoted?of=hunter2")["retraining-check"]
    environment = {"env": {"CONTRAPOSE_WEBHOOK_HOSTS_DEPLOYED": deployed_for}} if deployed_for else {}
    held(deployments={**content.deployments, "retraining-check": altered(check, job_variables=environment)})
    promotion = [each for each in deployed.check_deployed() if each.name == "promotion"]
    warnings = [each for each in promotion if each.state == "warning"]
    assert [each.observed.partition(": ")[2] for each in warnings] == told
    assert all("CONTRAPOSE_WEBHOOK_HOSTS" in each.remedy for each in warnings)
    assert "hunter2" not in str(warnings)


@pytest.mark.parametrize(("package", "state"), [(None, "warning"), (object(), "ok")])
def test_mlflow_is_looked_for_where_a_promotion_moves_an_alias(
    content: ServerState, held: Held, monkeypatch: pytest.MonkeyPatch, package: object, state: str
) -> None:
    monkeypatch.setattr("contrapose.tasks.core.errors.find_spec", lambda name: package)
    assert held(deployments=promoting(content, mlflow_alias="model@champion"))["promotion"].state == state


REFUSED_PARAMETERS: list[tuple[dict[str, Any], str]] = [
    ({"config": {"data": ".env"}}, "CONTRAPOSE_DATA=.env"),
    ({"config": {"model": "app/http://evil.example/take"}}, "CONTRAPOSE_APPS=http://evil.example/take"),
    ({"config": {"advanced": {"output": "/etc/cron.d"}}}, "CONTRAPOSE_OUTPUT=/etc/cron.d"),
    ({"models": ["mock", {"model": "app/cmd:rm"}]}, "CONTRAPOSE_APPS=cmd:rm"),
]


@pytest.mark.parametrize(("parameters", "remedy"), REFUSED_PARAMETERS)
def test_deployments_whose_parameters_a_run_would_refuse_are_listed(
    parameters: dict[str, Any], remedy: str, content: ServerState, held: Held, tmp_path: Path
) -> None:
    variables: dict[str, Any] = {"working_dir": str(tmp_path / "worker")}
    wrong = altered(content.deployments["on-demand"], parameters=parameters, job_variables=variables)
    finding = held(deployments={**content.deployments, "on-demand": wrong})["parameters"]
    assert finding.state == "problem"
    assert "on-demand" in finding.observed
    assert remedy in finding.remedy
    name, _, value = remedy.partition("=")
    allowed = altered(wrong, job_variables={**variables, "env": {f"{name}_DEPLOYED": value}})
    assert "parameters" not in held(deployments={**content.deployments, "on-demand": allowed})


def altered(record: Any, **changes: Any) -> Any:
    """What the server said, but for some of it."""
    return record.model_copy(update=changes)


def nightly(content: ServerState, **changes: Any) -> dict[str, Any]:
    return {**content.deployments, "nightly": altered(content.deployments["nightly"], **changes)}


def promoting(content: ServerState, **promotion: str) -> dict[str, Any]:
    check = altered(content.deployments["retraining-check"], parameters={"promotion": promotion})
    return {**content.deployments, "retraining-check": check}


def without(content: ServerState, name: str) -> dict[str, Any]:
    return {key: each for key, each in content.automations.items() if key != name}


def test_a_server_that_refuses_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused() -> None:
        raise PermissionError("key hunter2")

    monkeypatch.setattr(deployed, "read_server", refused)
    (only,) = deployed.check_deployed()
    assert (only.state, only.observed) == ("problem", "could not be read (PermissionError)")


@pytest.mark.usefixtures("ids", "own_store")
def test_the_doctor_tells_it_after_the_server(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--json"]) == 0
    names = [each["name"] for each in json.loads(capsys.readouterr().out)["checks"]]
    start = names.index("Prefect server")
    assert names[start + 1 : start + 5] == ["work pool", "deployments", "automations", "alerts"]


def switched_off(content: ServerState, name: str) -> dict[str, Any]:
    return {**content.automations, name: altered(content.automations[name], enabled=False)}
