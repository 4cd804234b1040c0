"""Runs as people start and see them in Prefect: names, tags, logs, reports that stay, and states."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import gettempdir
from types import SimpleNamespace
from typing import Any, cast
from urllib.request import Request, urlopen
from uuid import uuid4

import pytest
from databases import sqlite
from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import FlowRunFilter, FlowRunFilterName
from prefect.client.schemas.objects import FlowRun, State
from prefect.utilities.names import generate_slug

from contrapose.flows.check_retrained_model import check_retrained_model
from contrapose.flows.cli import main
from contrapose.flows.deploy.automations import read_automations
from contrapose.flows.deploy.deployment_options import read_shipped
from contrapose.flows.evaluate_model import evaluate_model
from contrapose.flows.orchestration import form, run_names, verdict_state
from contrapose.flows.orchestration.error_display import FLOW_RUN
from contrapose.flows.orchestration.run_names import is_generated, make_namer
from contrapose.flows.orchestration.verdict_state import NAMED, NAMES, make_headline
from contrapose.flows.serve import local_prefect
from contrapose.flows.serve.guard import Guard, encode_key
from contrapose.tasks.config.permissions import Permissions
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core.errors import ConfigError, ContraposeError
from contrapose.tasks.core.outcome import Summary
from contrapose.tasks.core.policy import yield_facts
from contrapose.tasks.report.publish import make_report_url

NAME = "my own {name}"
RUN = ["run", "--model", "mock", "--test", "order_bias", "--limit", "9", "--exit-zero", "--quiet"]


@pytest.fixture(scope="module")
def flow_run(recording_prefect: None, tmp_path_factory: pytest.TempPathFactory) -> SimpleNamespace:
    """What Prefect knows of one run: name, tags and the lines of its log."""
    here = tmp_path_factory.mktemp("habits")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(here)
        patch.setenv("CONTRAPOSE_STORE", sqlite(here))
        patch.setenv("PREFECT_LOGGING_LEVEL", "INFO")
        assert main([*RUN, "--flow-run-name", NAME]) == 0
    with get_client(sync_client=True) as client:
        (found,) = client.read_flow_runs(flow_run_filter=FlowRunFilter(name=FlowRunFilterName(any_=[NAME])))
    return SimpleNamespace(run=found)


def test_the_name_of_a_person_stays_and_the_run_is_tagged(flow_run: SimpleNamespace) -> None:
    assert flow_run.run.name == NAME
    assert {"suite:quickstart", "model:mock"} <= set(flow_run.run.tags)


def test_names_that_prefect_makes_up_are_known() -> None:
    assert all(is_generated(generate_slug(2)) for _ in range(200))
    assert not any(map(is_generated, ("nightly-check", "quickstart on mock", "brave", "brave-otter-2")))


def test_a_name_has_no_double_blanks_and_a_given_one_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    sent = {"model": "mock", "revision": "", "training_run": "7"}
    chosen = make_namer(lambda values: f"{values['model']} {values['revision']} {values['training_run']}")
    for made, name in ((generate_slug(2), "mock 7"), ("release 4", "release 4")):
        context = SimpleNamespace(flow_run=SimpleNamespace(name=made), parameters=sent)
        monkeypatch.setattr(run_names, "FlowRunContext", SimpleNamespace(get=lambda context=context: context))
        assert chosen() == name
    assert callable(check_retrained_model.flow_run_name)


@pytest.fixture
def temporary_folder(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that a worker makes for one flow run, and removes afterwards."""
    monkeypatch.setenv(FLOW_RUN, str(uuid4()))
    monkeypatch.setattr(form, "allow", lambda named: monkeypatch.setenv("CONTRAPOSE_OUTPUT", ";".join(*named.values())))
    return Path(gettempdir()).resolve() / "tmpabcdprefect"


def test_reports_of_a_run_in_a_temporary_folder_stay(
    temporary_folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CONTRAPOSE_HOME", str(tmp_path))
    kept = form.keep_reports(RunConfig(model="mock"), temporary_folder)
    assert kept.output == f"{tmp_path}/runs"
    Permissions.here().refuse(kept, [])
    for output in ("/elsewhere", "s3://bucket/runs"):
        chosen = RunConfig(model="mock", output=output)
        assert form.keep_reports(chosen, temporary_folder) is chosen
    chosen = RunConfig(model="mock")
    assert form.keep_reports(chosen, tmp_path) is chosen


def test_the_link_of_a_report_is_where_it_lies_unless_it_is_served(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CONTRAPOSE_REPORTS_URL", raising=False)
    assert make_report_url("/home/me/runs/a b") == "file:///home/me/runs/a%20b/report.html"
    assert make_report_url("s3://bucket/runs/a") == "s3://bucket/runs/a/report.html"
    monkeypatch.setenv("CONTRAPOSE_REPORTS_URL", "http://127.0.0.1:4300/")
    assert make_report_url("/home/me/runs/a b") == "http://127.0.0.1:4300/a%20b/report.html"


def test_the_log_of_a_task_says_what_came_of_it() -> None:
    table = {"uri": "/a", "sha256": "b", "rows": 1200}
    assert [*yield_facts({"table": table, "calls": 3, "from_store": 1197})] == [
        "1,200 rows",
        "3 calls, 1,197 answers from the cache",
    ]
    assert [*yield_facts({"verdict": "fail"})] == ["verdict fail, as if it were the only test"]
    checked = {"rows": 12, "findings": [{"holds": True}, {"holds": False}], "broken": None}
    assert [*yield_facts(checked)] == ["12 rows, 2 expectations, 1 of them broken"]
    assert [*yield_facts([])] == []


def test_links_to_reports_are_served_again_at_the_next_start(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    folder.mkdir()
    (folder / "report.html").write_text("the report")
    with local_prefect.reserve_port(None) as port:
        links = []
        for key in ("first", "second"):
            guard = Guard(key=key, port=port, kept="")
            with local_prefect.serve_reports(tmp_path, guard, None) as served:
                links.append(f"{served.url}/a/report.html")
                request = Request(links[0], headers={"Authorization": encode_key(key)})
                assert urlopen(request, timeout=10).read() == b"the report"
                with local_prefect.serve_reports(tmp_path, guard, None) as other:
                    assert other.url != served.url
                taken = int(served.url.rpartition(":")[2])
                again = local_prefect.serve_reports(tmp_path, guard, taken)
                with pytest.raises(ConfigError, match="cannot be used"), again:
                    pass
        assert links == [f"http://127.0.0.1:{port + 1}/a/report.html"] * 2


CONFIG = {"suite": "quickstart", "model": "mock", "limit": 12, "only": ["order_bias"]}
FAILING = {**CONFIG, "tests": {"factuality": {"order_bias": {"min_pass_rate": 1.0, "control": False}}}}


@pytest.fixture
def kept(prefect_server: None, own_store: str, in_tmp: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A server that is not the run's own."""
    monkeypatch.setattr(verdict_state, "is_server_kept", lambda: True)
    monkeypatch.setenv(NAMED, "verdict")
    return None


def run_kept(**parameters: Any) -> tuple[State[Any], FlowRun]:
    state = evaluate_model(**parameters, return_state=True)
    with get_client(sync_client=True) as client:
        return state, client.read_flow_run(state.state_details.flow_run_id)


@pytest.mark.usefixtures("kept")
def test_a_missed_gate_is_named_and_completed() -> None:
    state, kept = run_kept(config=FAILING)
    assert (state.type.value, state.name) == ("COMPLETED", "Failed gate")
    assert str(state.message).startswith("order_bias ")
    assert str(state.message).endswith("< 100.0%")
    assert (kept.state_name, kept.tags, kept.labels[verdict_state.LABEL]) == (
        "Failed gate",
        ["verdict:fail", "suite:quickstart", "model:mock"],
        "fail",
    )
    assert state.result()["summary"]["verdict"] == "fail"


@pytest.mark.usefixtures("kept")
def test_a_missed_gate_fails_the_flow_run_on_request_and_is_not_tried_again() -> None:
    retried = evaluate_model.with_options(retries=1, retry_delay_seconds=600)
    state = retried(FAILING, fail_flow="on_gate", return_state=True)
    assert (state.type.value, state.name) == ("FAILED", "Failed gate")
    with pytest.raises(ContraposeError, match=r"order_bias .* < 100\.0%; expected a run that passes"):
        state.result()


@pytest.mark.usefixtures("kept")
def test_without_the_variable_the_state_keeps_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(NAMED)
    state, _ = run_kept(config=FAILING)
    assert state.name == "Completed"
    assert "order_bias" in str(state.message)


def test_every_automation_that_waits_for_the_end_knows_the_names() -> None:
    waiting = [spec for spec in read_automations() if "prefect.flow-run.Completed" in spec["trigger"]["expect"]]
    assert {spec["name"] for spec in waiting} == {"contrapose-crashed", "contrapose-lost", "contrapose-stuck"}
    for spec in waiting:
        assert {f"prefect.flow-run.{name}" for name in NAMES.values()} <= set(spec["trigger"]["expect"])
    for deployment in read_shipped()["deployments"]:
        assert deployment["work_pool"]["job_variables"]["env"][NAMED] == "verdict"


@pytest.mark.parametrize(
    ("verdict", "rate", "message"),
    [
        ("fail", 0.3, "order_bias 30.0% < 70.0%"),
        ("pass", 0.9, "order_bias 90.0% ≥ 70.0%"),
        ("inconclusive", 0.72, "order_bias 72.0% ≥ 70.0%, not sure"),
        ("incomplete", 0.9, "order_bias: 3 of 4 cases got no answer."),
    ],
)
def test_the_message_sets_rates_beside_gates(verdict: str, rate: float, message: str) -> None:
    gate = {"name": "pass_rate", "rate": rate, "wanted": 0.7}
    reason = "3 of 4 cases got no answer."
    test = {"test_type": "order_bias", "verdict": verdict, "gates": [gate], "reason": reason}
    assert make_headline(cast(Summary, {"verdict": verdict, "tests": [test], "reason": ""})) == message


@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize("fail_flow", ["on_error", "on_gate"])
def test_a_second_attempt_ends_by_its_own_verdict(fail_flow: str, monkeypatch: pytest.MonkeyPatch) -> None:
    corridor = evaluate_model.fn.__globals__
    errors, room = [ContraposeError("a wall", expected="none", remedy="Mend it.")], corridor["evaluate"]
    monkeypatch.setitem(corridor, "evaluate", lambda *args: _raise(errors.pop()) if errors else room(*args))
    retried = evaluate_model.with_options(retries=1)
    if fail_flow == "on_gate":
        with pytest.raises(ContraposeError, match="expected a run that passes"):
            retried(FAILING, fail_flow="on_gate")
    else:
        assert retried(FAILING)["summary"]["verdict"] == "fail"


def _raise(error: Exception) -> None:
    raise error
