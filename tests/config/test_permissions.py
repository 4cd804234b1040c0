"""What a suite, a form or a deployment of somebody else may name, and what the user's own command line allows."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from small_server import answering

from contrapose.flows.orchestration.form import read_form
from contrapose.flows.orchestration.options import resolve_suite
from contrapose.flows.run_context import resolve_run
from contrapose.tasks.config.permissions import APPS, DATA, OUTPUT, VARIABLES, Permissions, allow, list_named_by_user
from contrapose.tasks.config.plan import plans
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core.errors import ConfigError, ContraposeError
from contrapose.tasks.load import opening


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with files around it that are nobody's business."""
    for name in VARIABLES:
        # Set, so that what a test allows ends with it.
        monkeypatch.setenv(name, "")
    folder = tmp_path / "project"
    for path in (folder / "rows.csv", folder / ".env", folder / ".ssh" / "id", tmp_path / "outside.csv"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("text\nIt rained.\n")
    (folder / "set").mkdir()
    (folder / "link.csv").symlink_to(tmp_path / "outside.csv")
    (folder / "env.csv").symlink_to(folder / ".env")
    monkeypatch.chdir(folder)
    return folder


def here(**variables: str) -> Permissions:
    return Permissions(folder=Path.cwd(), environment=variables)


@pytest.mark.parametrize(
    "source", ["rows.csv", "./rows.csv", "negation", "file://rows.csv", "zip://rows.csv::a.zip", "hf/.", "hf/set"]
)
def test_files_of_the_project_may_be_read(source: str) -> None:
    here().refuse_file(source, where="data.source")


@pytest.mark.parametrize(
    "source",
    [
        *(".env", "./.env", ".ssh/id", "file://.env", "file:.env", "local:.env", "env.csv", "x/../.env"),
        *("link.csv", "../outside.csv", "~/rows.csv", "/etc/passwd", "file:///etc/passwd", "file:/etc/passwd"),
        *("simplecache::/etc/passwd", "zip://a.csv::../a.zip", "hf/..", "hf/.ssh", "/proc/self/environ"),
        *("s3://bucket/rows.csv", "sftp://host/rows.csv", "reference://::rows.csv", "memory://rows.csv"),
        *("dir://x::https://host.example/rows.csv", "github://owner:repo@main/rows.csv"),
    ],
)
def test_other_files_may_not(source: str) -> None:
    with pytest.raises(ConfigError, match=r"may not be read for a suite .* (--data|CONTRAPOSE_DATA)"):
        here().refuse_file(source, where="data.source")


def test_below_the_root_nothing_is_a_project(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError):
        Permissions(folder=Path("/"), environment={}).refuse_file("proc/self/environ", where="data.source")


@pytest.mark.parametrize("source", ["https://host.example/rows.csv", "http://127.0.0.1:8000/rows.csv", "hf/org/name"])
def test_addresses_of_the_web_and_data_sets_may_be_fetched(source: str) -> None:
    here().refuse_file(source, where="data.source")


@pytest.mark.parametrize(
    "source",
    [
        *(
            "http://169.254.169.254/latest/rows.csv",
            "http://[fe80:0:0:0:0:0:0:1]/rows.csv",
            "http://metadata.google.internal/r.csv",
        ),
        *("simplecache::http://169.254.169.254/rows.csv", "http://[0:0:0:0:0:ffff:a9fe:a9fe]/rows.csv"),
    ],
)
def test_link_local_addresses_are_refused_whatever_is_listed(source: str) -> None:
    with pytest.raises(ConfigError, match=r"link-local|metadata"):
        here(CONTRAPOSE_DATA="*").refuse_file(source, where="data.source")


@pytest.mark.parametrize(
    ("listed", "source"),
    [
        ("../outside.csv", "../outside.csv"), ("..", "../outside.csv"), (".env", ".env"), (".ssh", ".ssh/id"),
        ("a.csv; s3://bucket/team/", "s3://bucket/team/rows.csv"), ("*", "/etc/passwd"),
    ],
)  # fmt: skip
def test_what_the_machine_lists_may_be_read(listed: str, source: str) -> None:
    here(CONTRAPOSE_DATA=listed).refuse_file(source, where="data.source")
    here(CONTRAPOSE_DATA_DEPLOYED=listed).refuse_file(source, where="data.source")


@pytest.mark.parametrize(
    ("listed", "source"),
    [("..", ".env"), ("s3://bucket/team", "s3://bucket/team2/x.csv"), ("s3://bucket/a", "s3://bucket/a/../b.csv")],
)
def test_nothing_more_than_that(listed: str, source: str) -> None:
    with pytest.raises(ConfigError):
        here(CONTRAPOSE_DATA=listed).refuse_file(source, where="data.source")


@pytest.mark.parametrize("target", ["runs", "results/night", "runs/.history", ".history"])
def test_runs_are_written_below_the_working_folder(target: str) -> None:
    here().refuse_target(target, where="output")


@pytest.mark.parametrize("target", ["/tmp/x", "../x", "s3://bucket/x", ".ssh", ".git/hooks", "~/x", "memory://x"])
def test_and_nowhere_else(target: str) -> None:
    for setting in ("output", "history"):
        with pytest.raises(ConfigError, match=f"^{setting}: .*may not be written .*(--out|--set history=).*{OUTPUT}="):
            here().refuse_target(target, where=setting)
    here(CONTRAPOSE_OUTPUT=target).refuse_target(target, where="output")
    here(CONTRAPOSE_HISTORY=target).refuse_target(target, where="history")


def test_a_configuration_is_refused_for_all_that_it_names() -> None:
    config = RunConfig.model_validate(
        {
            "model": "recorded//etc/replies.jsonl",
            "model_args": {"requests": "/etc/requests.jsonl"},
            "data": "/etc/passwd",
            "expectations": ["/etc/expectations.yaml"],
            "output": "/etc/runs",
            "history": "/etc/history",
            "runner": "dask",
            "runner_args": {"address": "tcp://evil.example:8786"},
            "tests": {"sensitivity": {"add_negation": {}, "antonym": {"data": ".env"}}},
        }
    )
    with pytest.raises(ConfigError) as refused:
        plans(config)
    for named in ("passwd", ".env", "replies", "requests", "expectations", "/etc/runs", "/etc/history", "evil.example"):
        assert named in str(refused.value)
    allow(list_named_by_user(config.model_dump(mode="json")))
    assert len(plans(config)) == 2


def test_what_the_command_line_names_is_the_users_own(project: Path, tmp_path: Path) -> None:
    (project / "suite.yaml").write_text("data: ../other.csv\ntests: {sensitivity: {add_negation: {}}}\n")
    for source in ("../outside.csv", str(tmp_path / "outside.csv"), ".env", "s3://bucket/rows.csv"):
        config, _ = resolve_suite("suite.yaml", {"data": source})
        assert plans(config)[0].data.source == source
    config, _ = resolve_suite(
        "suite.yaml", {"data.source": "/data/a.csv", "output": "/data/runs", "model": "app/http://a/b"}
    )
    assert plans(config)
    Permissions.here().refuse_app("http://a/b")


def test_a_suite_may_name_files_beside_itself(project: Path, tmp_path: Path) -> None:
    (tmp_path / "suite.yaml").write_text(
        "data: ../outside.csv\ntests: {sensitivity: {add_negation: {prompt_file: prompt.j2}}}\n"
    )
    (tmp_path / "prompt.j2").write_text("{{ text }}")
    assert plans(resolve_suite("../suite.yaml", {})[0])


def test_a_suites_prompt_is_no_file_elsewhere(project: Path, tmp_path: Path) -> None:
    (project / "suite.yaml").write_text("tests: {sensitivity: {add_negation: {prompt_file: ../outside.csv}}}\n")
    with pytest.raises(ConfigError, match=r"outside.csv may not be read"):
        resolve_suite("suite.yaml", {})


def test_a_text_with_the_signs_of_a_list_lists_nothing_else() -> None:
    assert list_named_by_user({"data": "a\n*", "expectations": ["b;*", "c"]}) == {DATA: ["c"]}
    assert list_named_by_user({"model": "app/cmd:a"}, suite="quickstart") == {APPS: ["cmd:a"]}
    assert list_named_by_user({"output": "x", "tests": {"a": {"b": {"data": {"source": "y"}}}}}) == {
        OUTPUT: ["x"],
        DATA: ["y"],
    }


def refused(source: str) -> str:
    with pytest.raises(ContraposeError) as caught, opening.open_source(source):
        pass
    return str(caught.value)


def test_a_redirect_to_a_link_local_address_is_not_followed() -> None:
    metadata = {"Location": "http://169.254.169.254/latest/rows.csv"}
    with answering(lambda asked: asked.reply(status=302, headers=metadata)) as url:
        assert "169.254.169.254 is where a cloud's metadata service is" in refused(f"{url}/rows.csv")


def test_a_name_that_leads_to_a_link_local_address_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    known = socket.getaddrinfo

    def looked_up(host: str, *rest: object, **options: object) -> object:
        return known("169.254.1.1" if host == "inner.example" else host, *rest, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(socket, "getaddrinfo", looked_up)
    assert "169.254.1.1 is link-local" in refused("http://inner.example/rows.csv")


@pytest.mark.parametrize(
    ("parameters", "named"),
    [
        ({"model": "mock", "data": "../outside.csv"}, "outside.csv may not be read"),
        ({"model": "mock", "advanced": {"output": "../elsewhere"}}, "elsewhere may not be written"),
        ({"model": "mock", "advanced": {"history": "s3://bucket/history"}}, "history may not be written"),
        ({"model": "app/http://evil.example/take"}, "take may not be asked"),
        ({"model": "recorded/../outside.csv"}, "outside.csv may not be read"),
        ({"model": "mock", "advanced": {"expectations": ["../outside.csv"]}}, "outside.csv may not be read"),
    ],
)
def test_parameters_of_a_deployed_run_name_nothing_elsewhere(parameters: dict[str, object], named: str) -> None:
    """What `on-demand` is filled in with goes this way, on the worker."""
    with pytest.raises(ContraposeError, match=named):
        resolve_run(read_form(parameters))
