"""Deployments and automations before they reach a server."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from local_ui import ask
from prefect.settings import PREFECT_API_URL, temporary_settings
from receiver import receiving

from contrapose.flows.cli.deploy import add_deployment, read_deploy_options
from contrapose.flows.deploy.automations import find_blocks
from contrapose.flows.deploy.deploy import (
    _make_pool,
    deploy,
    deploy_file,
    describe_next_steps,
    keep_settings,
    set_parameters,
)
from contrapose.flows.deploy.deployment_options import (
    UNATTENDED,
    DeploymentOptions,
    apply_options,
    check_parameters,
    read_shipped,
)
from contrapose.flows.orchestration.form import read_form
from contrapose.flows.serve.guard import encode_key
from contrapose.flows.serve.local_prefect import reserve_port
from contrapose.flows.serve.report_server import make_report_site, serve_site
from contrapose.tasks.config.hosts import origin_of
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.config.suite_files import load_config
from contrapose.tasks.core.errors import ConfigError


def deployments(options: DeploymentOptions) -> dict[str, dict[str, Any]]:
    return {each["name"]: each for each in apply_options(read_shipped(), options)["deployments"]}


def check(**given: Any) -> dict[str, Any]:
    return check_parameters(**{"baseline": None, "margin": None, "promotion": {}, **given})


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: DeploymentOptions(cron="0 25 * * *"), r"^--cron: '0 25 \* \* \*'; expected minute, hour, .* --cron "),
        (
            lambda: DeploymentOptions(timezone="Mars/Olympus"),
            r"^--timezone: 'Mars/Olympus'; expected the name of a time",
        ),
        (lambda: deployments(DeploymentOptions(key_hosts=("*",))), "--key-host"),
        (lambda: deployments(DeploymentOptions(key_hosts=("https://user:s3cret@a.example",))), "--key-host"),
        (lambda: check(margin=2.0), "2.0; expected a share"),
        (lambda: check(promotion={"webhook": "https://user:s3cret@a.example"}), "without user, password"),
        (lambda: check(promotion={"webhook": "http://169.254.169.254/latest"}), "169.254.169.254 is where a cloud's"),
        (lambda: check(promotion={"mlflow_alias": "champion"}), "<registered model>@<alias>"),
    ],
)
def test_what_cannot_be_used_is_refused_before_anything_is_deployed(make: Callable[[], object], error: str) -> None:
    with pytest.raises(ConfigError, match=error) as caught:
        make()
    assert "pydantic" not in str(caught.value)
    assert "s3cret" not in str(caught.value)


def test_each_is_described_tagged_and_limited_and_runs_in_the_given_folder_with_signs_of_life(tmp_path: Path) -> None:
    found = deployments(DeploymentOptions(work_dir=str(tmp_path)))
    assert sorted(found) == ["certificate", "comparison", "nightly", "on-demand", "retraining-check"]
    for each in found.values():
        assert "contrapose" in each["tags"]
        assert each["concurrency_limit"]["limit"] == 1
        assert len(each["description"]) > 200
        assert each["version"]
        variables = each["work_pool"]["job_variables"]
        assert variables["working_dir"] == str(tmp_path)
        assert variables["env"]["PREFECT_FLOWS_HEARTBEAT_FREQUENCY"] == "60"


def test_a_configuration_changes_what_nobody_fills_in(tmp_path: Path) -> None:
    config = load_config("quickstart", {"model": "openai/x", "suite": "ours"})[0]
    for name, each in deployments(DeploymentOptions(config=config)).items():
        assert (each["parameters"]["config"]["suite"] == "ours") == (name in UNATTENDED)


def test_a_file_named_like_a_bundled_suite_is_deployed_as_it_is(tmp_path: Path) -> None:
    own = tmp_path / "quickstart.yaml"
    own.write_text("model: mock\ntests:\n  factuality:\n    order_bias: {min_pass_rate: 0.9}\n")
    config = load_config(str(own))[0]
    nightly = deployments(DeploymentOptions(config=config))["nightly"]
    assert read_form(nightly["parameters"]["config"]) == config


@pytest.mark.slow
@pytest.mark.usefixtures("prefect_server")
def test_prefect_fills_nothing_in_that_looks_like_its_templates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from prefect.client.orchestration import get_client

    monkeypatch.setenv("PREFECT_API_URL", str(PREFECT_API_URL.value()))
    monkeypatch.setenv("MY_KEY", "s3cret")
    config = RunConfig(suite="ours", model="mock", system_instruction="Fill {{ name }} and {{ $MY_KEY }} in.")
    nightly = deployments(DeploymentOptions(config=config, work_dir=str(tmp_path)))["nightly"]
    with get_client(sync_client=True) as client:
        _make_pool(client)
        deploy_file({**read_shipped(), "deployments": [nightly]})
        set_parameters(client, nightly)
        found = client.read_deployment_by_name("evaluate-model/nightly")
    assert found.parameters == nightly["parameters"]
    assert found.schedules


def test_the_forms_begin_with_the_model_that_is_deployed() -> None:
    found = deployments(
        DeploymentOptions(config=RunConfig(model="openai/x", model_args={"base_url": "http://a.example/v1"}))
    )
    named = {"model": "openai/x", "model_args": {"base_url": "http://a.example/v1"}}
    assert found["on-demand"]["parameters"]["config"] == {"suite": "quickstart", **named}
    assert found["comparison"]["parameters"]["models"] == [named, "mock"]
    plain = deployments(DeploymentOptions(config=RunConfig(model="openai/x")))
    assert plain["comparison"]["parameters"]["models"] == ["openai/x", "mock"]


def test_the_check_gets_what_is_given_and_no_other_deployment_does() -> None:
    given = check_parameters(baseline="hf/b", margin=0.02, promotion={"ask": True, "webhook": None})
    for name, each in deployments(DeploymentOptions(check=given)).items():
        told = {key: each["parameters"].get(key) for key in ("baseline", "margin", "promotion")}
        own = {"baseline": "hf/b", "margin": 0.02, "promotion": {"ask": True}}
        assert told == (own if name == "retraining-check" else dict.fromkeys(told))


def environment(options: DeploymentOptions, name: str) -> dict[str, str]:
    found: dict[str, str] = deployments(options)[name]["work_pool"]["job_variables"]["env"]
    return found


def test_hosts_that_are_typed_are_deployed_beside_the_key_and_others_are_not() -> None:
    foreign = RunConfig(model="openai/x", model_args={"base_url": "https://a.example/v1", "api_key_env": "MY_KEY"})
    typed = DeploymentOptions(config=foreign, key_hosts=("gateway.example", "MY_KEY=b.example:8000"))
    for name in deployments(DeploymentOptions()):
        assert environment(typed, name)["CONTRAPOSE_KEY_HOSTS_DEPLOYED"] == "gateway.example,MY_KEY=b.example:8000"
        assert not [each for each in environment(DeploymentOptions(config=foreign), name) if "HOSTS" in each]


def test_files_and_addresses_that_are_typed_are_deployed_and_those_of_a_suite_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("suite.yaml").write_text("data: /srv/suite.csv\nmodel: app/http://suite.example/ask\n")
    words = ["--data", "/srv/rows.csv", "--model", "app/http://bot.example/ask", "--set", "output=s3://bucket/runs"]
    command = argparse.ArgumentParser()
    add_deployment(command)
    typed = environment(read_deploy_options(command.parse_args(["--suite", "suite.yaml", *words])), "nightly")
    assert typed["CONTRAPOSE_DATA_DEPLOYED"] == "/srv/rows.csv"
    assert typed["CONTRAPOSE_APPS_DEPLOYED"] == "http://bot.example/ask"
    assert typed["CONTRAPOSE_OUTPUT_DEPLOYED"] == "s3://bucket/runs"
    suite = environment(read_deploy_options(command.parse_args(["--suite", "suite.yaml"])), "nightly")
    assert not {"CONTRAPOSE_DATA_DEPLOYED", "CONTRAPOSE_APPS_DEPLOYED", "CONTRAPOSE_OUTPUT_DEPLOYED"} & suite.keys()
    commands = environment(read_deploy_options(command.parse_args(["--model", "app/cmd:cat"])), "nightly")
    assert "CONTRAPOSE_APPS_DEPLOYED" not in commands


def test_the_host_of_the_webhook_is_deployed_with_it_for_the_check_alone() -> None:
    given = check(promotion={"webhook": "https://Hooks.example/team/x"})
    for name in deployments(DeploymentOptions()):
        listed = environment(DeploymentOptions(check=given), name).get("CONTRAPOSE_WEBHOOK_HOSTS_DEPLOYED")
        assert listed == ("https://hooks.example" if name == "retraining-check" else None)


def test_an_address_that_is_taken_away_takes_its_host_along() -> None:
    removed = check(promotion={"webhook": "", "mlflow_alias": ""})
    options = DeploymentOptions(check=removed)
    assert environment(options, "retraining-check")["CONTRAPOSE_WEBHOOK_HOSTS_DEPLOYED"] == ""
    assert deployments(options)["retraining-check"]["parameters"]["promotion"] == {"webhook": "", "mlflow_alias": ""}


def test_what_follows_a_check_is_told_without_the_path_of_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("contrapose.flows.deploy.deploy.find_missing", lambda promotion: [])
    promotion = {"mlflow_alias": "m@champion", "webhook": "https://hooks.example/s3cret", "ask": True}
    assert list(describe_next_steps({"promotion": promotion})) == [
        "  after promote: alias m@champion is moved and https://hooks.example is called; "
        "after hold: a person is asked, for 72 hours at most"
    ]
    assert list(describe_next_steps({})) == ["  after promote: nothing; after hold: nothing"]


def test_what_a_promotion_lacks_here_is_told_when_it_is_deployed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("contrapose.tasks.core.errors.find_spec", lambda name: None)
    monkeypatch.setenv("CONTRAPOSE_WEBHOOK_HOSTS", "127.0.0.1/32")
    monkeypatch.setenv("CONTRAPOSE_WEBHOOK_SECRET", "short")
    with receiving() as gone:
        promotion = {"mlflow_alias": "m@champion", "webhook": gone.url}
    _, *lines = describe_next_steps({"promotion": promotion})
    assert [line.partition(" it: ")[2].partition("; expected")[0] for line in lines] == [
        "promotion.mlflow_alias: the package mlflow is not installed",
        "promotion.webhook: a secret of 5 characters",
        f"{origin_of(gone.url)}: no server accepts a connection (Connection refused)",
    ]
    with receiving() as receiver:
        monkeypatch.setenv("CONTRAPOSE_WEBHOOK_SECRET", "long enough to be one")
        assert len(list(describe_next_steps({"promotion": {"webhook": receiver.url}}))) == 1
        assert receiver.bodies == []


def test_what_was_deployed_stays_until_something_else_is_given() -> None:
    from prefect.exceptions import ObjectNotFound

    class Client:
        found: Any = None

        def read_deployment_by_name(self, name: str) -> Any:
            if self.found is None:
                raise ObjectNotFound(http_exc=Exception())
            return self.found

    def redeployed(name: str, **given: Any) -> Any:
        each = deployments(DeploymentOptions(**given))[name]
        wanted, _ = keep_settings(client, each)  # type: ignore[arg-type]
        variables = wanted["work_pool"]["job_variables"]
        client.found = SimpleNamespace(job_variables=variables, parameters=wanted["parameters"])
        return client.found

    def hosts(*typed: str) -> str | None:
        found = redeployed("on-demand", key_hosts=typed).job_variables["env"].get("CONTRAPOSE_KEY_HOSTS_DEPLOYED")
        return None if found is None else str(found)

    def parameters(**given: Any) -> dict[str, Any]:
        found = redeployed("retraining-check", check=given).parameters
        return {key: value for key, value in found.items() if key != "config"}

    client = Client()
    assert [hosts(), hosts("a.example"), hosts(), hosts("b.example"), hosts()] == [
        None,
        *["a.example"] * 2,
        *["b.example"] * 2,
    ]
    client, webhook = Client(), {"webhook": "https://a.example/x"}
    assert parameters(margin=0.02, promotion=webhook) == parameters() == {"margin": 0.02, "promotion": webhook}
    assert parameters(promotion={"ask": True}) == {"margin": 0.02, "promotion": {**webhook, "ask": True}}
    assert parameters(promotion={"webhook": ""}) == {"margin": 0.02, "promotion": {"ask": True, "webhook": ""}}


@pytest.mark.usefixtures("prefect_server")
def test_a_block_that_sends_to_where_credentials_are_handed_out_is_refused() -> None:
    from prefect.blocks.notifications import CustomWebhookNotificationBlock
    from prefect.client.orchestration import get_client

    for name, url in {"bad": "http://169.254.169.254/s3cret", "good": "http://127.0.0.1:9/s3cret"}.items():
        CustomWebhookNotificationBlock(name=name, url=url, json_data={}).save(name, overwrite=True)
    with get_client(sync_client=True) as client:
        assert find_blocks(client, ["custom-webhook/good"])
        with pytest.raises(ConfigError, match="metadata") as caught:
            find_blocks(client, ["custom-webhook/bad"])
    assert "s3cret" not in str(caught.value)


def test_a_silent_server_is_named_without_its_password() -> None:
    with reserve_port(None) as port:
        address = f"127.0.0.1:{port}/api"
    silent = temporary_settings({PREFECT_API_URL: f"http://user:s3cret@{address}"})
    with silent, pytest.raises(ConfigError, match=f"http://{address} does not answer"):
        list(deploy(DeploymentOptions()))


def test_reports_are_served_and_nothing_else(tmp_path: Path) -> None:
    run = tmp_path / "run-1"
    run.mkdir()
    (run / "report.html").write_text("<p>fine</p>")
    (run / "results.csv").write_text("raw")
    with serve_site(make_report_site(tmp_path)) as served:
        key = {"Authorization": encode_key(served.guard.key)}
        assert ask(served.url, "/run-1/report.html", **key)[:2] == (200, b"<p>fine</p>")
        for path in ("run-1/results.csv", "../run-1/report.html", "", "run-2/report.html"):
            assert ask(served.url, f"/{path}", **key)[0] == 404
        assert ask(served.url, "/run-1/report.html", Host="evil.example", **key)[0] == 404
        assert ask(served.url, "/run-1/report.html")[0] == 401


@pytest.mark.usefixtures("prefect_server")
def test_the_installed_libraries_let_prefect_write_scheduled_runs() -> None:
    from prefect.client.orchestration import get_client
    from prefect.client.schemas.filters import FlowRunFilter
    from prefect.client.schemas.schedules import IntervalSchedule

    with get_client(sync_client=True) as client:
        flow = client.create_flow_from_name("scheduled")
        each = {"schedule": IntervalSchedule(interval=timedelta(seconds=60)), "active": True}
        made = client.create_deployment(flow_id=flow, name="scheduled", schedules=[each])
        client.request("POST", f"/deployments/{made}/schedule", json={}).raise_for_status()
        runs = client.read_flow_runs(flow_run_filter=FlowRunFilter.model_validate({"deployment_id": {"any_": [made]}}))
    assert runs
    assert all(run.auto_scheduled for run in runs)


def test_nightly_runs_when_it_is_told_to() -> None:
    (schedule,) = deployments(DeploymentOptions(cron="0 5 * * 1", timezone="Asia/Tokyo"))["nightly"]["schedules"]
    assert (schedule["cron"], schedule["timezone"]) == ("0 5 * * 1", "Asia/Tokyo")


def test_two_that_start_at_once_take_two_ports() -> None:
    with reserve_port(None) as first, reserve_port(None) as second:
        assert first != second
        with pytest.raises(ConfigError, match=f"--port: port {first} cannot be used"), reserve_port(first):
            pass
    with reserve_port(first) as again:
        assert again == first
