"""Runs as a person starts them in Prefect by habit: names, tags, logs, and reports that stay."""

from __future__ import annotations

from pathlib import Path
from tempfile import gettempdir
from types import SimpleNamespace
from urllib.request import Request, urlopen
from uuid import uuid4

import pytest
from databases import sqlite
from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import FlowRunFilter, FlowRunFilterName
from prefect.utilities.names import generate_slug

from contrapose.flows.check_retrained_model import check_retrained_model
from contrapose.flows.cli import main
from contrapose.flows.orchestration import form, run_names
from contrapose.flows.orchestration.error_display import FLOW_RUN
from contrapose.flows.orchestration.run_names import is_made_up, name_after
from contrapose.flows.serve import local_prefect
from contrapose.flows.serve.guard import Guard, basic
from contrapose.tasks.config.permissions import Permissions
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.policy import facts_of
from contrapose.tasks.report.publish import report_url

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
    assert all(is_made_up(generate_slug(2)) for _ in range(200))
    assert not any(map(is_made_up, ("nightly-check", "quickstart on mock", "brave", "brave-otter-2")))


def test_a_name_has_no_double_blanks_and_a_given_one_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    sent = {"model": "mock", "revision": "", "training_run": "7"}
    chosen = name_after(lambda values: f"{values['model']} {values['revision']} {values['training_run']}")
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
    assert report_url("/home/me/runs/a b") == "file:///home/me/runs/a%20b/report.html"
    assert report_url("s3://bucket/runs/a") == "s3://bucket/runs/a/report.html"
    monkeypatch.setenv("CONTRAPOSE_REPORTS_URL", "http://127.0.0.1:4300/")
    assert report_url("/home/me/runs/a b") == "http://127.0.0.1:4300/a%20b/report.html"


def test_the_log_of_a_task_says_what_came_of_it() -> None:
    table = {"uri": "/a", "sha256": "b", "rows": 1200}
    assert [*facts_of({"table": table, "calls": 3, "from_store": 1197})] == [
        "1,200 rows",
        "3 calls, 1,197 answers from the cache",
    ]
    assert [*facts_of({"verdict": "fail"})] == ["verdict fail, as if it were the only test"]
    checked = {"rows": 12, "findings": [{"holds": True}, {"holds": False}], "broken": None}
    assert [*facts_of(checked)] == ["12 rows, 2 expectations, 1 of them broken"]
    assert [*facts_of([])] == []


def test_links_to_reports_are_served_again_at_the_next_start(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    folder.mkdir()
    (folder / "report.html").write_text("the report")
    with local_prefect.own_port(None) as port:
        links = []
        for key in ("first", "second"):
            guard = Guard(key=key, port=port, kept="")
            with local_prefect.serving_reports(tmp_path, guard, None) as served:
                links.append(f"{served.url}/a/report.html")
                request = Request(links[0], headers={"Authorization": basic(key)})
                assert urlopen(request, timeout=10).read() == b"the report"
                with local_prefect.serving_reports(tmp_path, guard, None) as other:
                    assert other.url != served.url
                taken = int(served.url.rpartition(":")[2])
                again = local_prefect.serving_reports(tmp_path, guard, taken)
                with pytest.raises(ConfigError, match="cannot be used"), again:
                    pass
        assert links == [f"http://127.0.0.1:{port + 1}/a/report.html"] * 2
