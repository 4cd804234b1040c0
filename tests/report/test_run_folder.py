"""Where a run is written: a folder, whole or not at all; and MLflow, whose store may fail."""

from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from factories import outcome, outcomes, summary
from hostile import HOSTILE, hostile_report

from contrapose.flows.cli.validate import validate_run
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core import errors
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.places import Place
from contrapose.tasks.report import mlflow
from contrapose.tasks.report.mlflow import collect_run_values, log_run, track
from contrapose.tasks.report.publish import find_free_folder, reserve_folder, write_folder


def put(folder: Path) -> None:
    (folder / "a.txt").write_text("a")


def test_a_name_is_given_once(tmp_path: Path) -> None:
    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(lambda _: find_free_folder(Place(str(tmp_path / "runs")), "x"), range(32)))
    assert len(set(found)) == 32
    for folder in found:
        write_folder(folder, put, last="a.txt")
    assert sorted(tmp_path.glob("runs/*")) == sorted(folder.path for folder in found)
    assert find_free_folder(Place(str(tmp_path / "runs")), "x").name == "x-33"


def test_what_fails_leaves_nothing(tmp_path: Path) -> None:
    def fail(folder: Path) -> None:
        put(folder)
        raise RuntimeError

    folder = find_free_folder(Place(str(tmp_path)), "x")
    with pytest.raises(RuntimeError):
        write_folder(folder, fail, last="a.txt")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("end", [KeyboardInterrupt, RuntimeError, None])
def test_a_reserved_folder_leaves_nothing_aside(tmp_path: Path, end: type[BaseException] | None) -> None:
    with suppress(KeyboardInterrupt, RuntimeError), reserve_folder(Place(str(tmp_path)), "x") as folder:
        if end is not None:
            raise end
        write_folder(folder, put, last="a.txt")
    assert [path.name for path in tmp_path.iterdir()] == ([] if end else ["x"])


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match=r"cannot write the run folder.*--out"):
        find_free_folder(Place(str(tmp_path / "file")), "x")


def modes(folder: Path) -> set[tuple[int, ...]]:
    """Modes of what lies in a folder: of folders, then of files."""
    paths = (
        [path for path in folder.rglob("*") if path.is_dir()],
        [path for path in folder.rglob("*") if path.is_file()],
    )
    return {tuple(sorted({stat.S_IMODE(path.stat().st_mode) for path in kind})) for kind in paths}


@pytest.mark.parametrize(
    ("around", "folders", "files"),
    [(None, 0o700, 0o600), (0o755, 0o755, 0o644), (0o750, 0o750, 0o640), (0o700, 0o700, 0o600)],
)
def test_a_run_is_as_open_as_the_folder_of_runs_and_a_new_one_is_the_users_alone(
    around: int | None, folders: int, files: int, tmp_path: Path
) -> None:
    runs = tmp_path / "runs"
    if around is not None:
        runs.mkdir()
        runs.chmod(around)
    write_folder(find_free_folder(Place(str(runs)), "one"), put, last="a.txt")
    (Place(str(runs)) / ".history" / "one.parquet").write(b"")
    assert stat.S_IMODE(runs.stat().st_mode) == folders
    assert modes(runs) == {(folders,), (files,)}


class Store:
    """The part of MLflow's client that is used, in memory."""

    def __init__(self, *, broken: str = "") -> None:
        self.broken, self.told, self.files = broken, {}, []
        self.status = "RUNNING"

    def get_experiment_by_name(self, name: str) -> Any:
        return None

    def create_experiment(self, name: str) -> str:
        return "7"

    def create_run(self, experiment: str, **about: Any) -> Any:
        self.told = {"experiment": experiment, **about}
        return SimpleNamespace(info=SimpleNamespace(run_id="r1"))

    def log_param(self, run: str, name: str, value: object) -> None:
        if name == self.broken:
            raise OSError("postgresql://user:secret@host")
        self.told[name] = value

    log_metric = set_tag = log_param

    def log_artifact(self, run: str, path: str) -> None:
        self.files.append(Path(path).name)

    def set_terminated(self, run: str, status: str, *, end_time: int) -> None:
        self.status = status


def published(folder: Path) -> Path:
    for name in ("report.html", "summary.json", "junit.xml", "results.parquet"):
        (folder / name).write_text("x")
    return folder


def test_a_run_is_logged_with_its_figures_and_files(tmp_path: Path) -> None:
    store = Store()
    assert log_run(published(tmp_path), summary(), experiment="nightly", client=store) == "r1"
    assert store.told["add_toxic_words.pass_rate"] == 0.95
    assert (store.told["add_toxic_words.low"], store.told["add_toxic_words.high"]) == (0.835, 0.986)
    assert (store.told["add_toxic_words.n"], store.told["contrapose.add_toxic_words.verdict"]) == (40, "pass")
    assert (store.told["model.id"], store.told["contrapose.verdict"]) == ("hf/example/tiny-270m", "fail")
    assert store.told["start_time"] == 1_795_248_121_000
    assert (store.files, store.status) == (["report.html", "summary.json", "junit.xml"], "FINISHED")


def test_a_figure_without_a_value_is_left_out() -> None:
    found = collect_run_values(summary(tests=[outcome(pass_rate=None, interval=None)]))
    assert "add_negation.n" in found.metrics
    assert not {"add_negation.pass_rate", "add_negation.low"} & set(found.metrics)


def test_what_is_logged_in_part_is_marked_as_failed(tmp_path: Path) -> None:
    store = Store(broken="suite")
    with pytest.raises(OSError, match="secret"):
        log_run(tmp_path, summary(), experiment="nightly", client=store)
    assert store.status == "FAILED"


def test_a_store_that_fails_is_told_in_a_line_without_its_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mlflow, "_make_client", lambda: Store(broken="suite"))
    told = track(tmp_path, summary(), experiment="nightly")
    assert told == [
        "The run was not logged into MLflow's experiment nightly: OSError. See MLFLOW_TRACKING_URI, and the log of its "
        "server. Its folder is complete."
    ]


def test_the_advice_of_mlflow_is_shown_without_addresses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise MlflowError(
            "The filesystem tracking backend is in maintenance mode. Please migrate (e.g., 'sqlite:///mlflow.db').\n"
            "See https://user:secret@host/page?token=secret for guidance, or set `MLFLOW_ALLOW_FILE_STORE=true`."
        )

    monkeypatch.setattr(mlflow, "_make_client", refuse)
    (told,) = track(tmp_path, summary(), experiment="nightly")
    assert "sqlite:///mlflow.db" in told
    assert "set `MLFLOW_ALLOW_FILE_STORE=true`" in told
    assert "secret" not in told


class MlflowError(Exception):
    """An error of MLflow."""


MlflowError.__module__ = "mlflow.exceptions"


def test_names_and_values_are_such_as_every_store_takes() -> None:
    for text in HOSTILE:
        found = collect_run_values(hostile_report(text).summary)
        names = [*found.params, *found.metrics, *found.tags]
        assert all(set(name) <= ALLOWED and len(name) <= 250 for name in names), ascii(text)
        values = [*found.params.values(), *found.tags.values()]
        assert all(len(value) <= 500 and value.encode() is not None for value in values), ascii(text)


ALLOWED = set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./ ")


def test_an_experiment_without_mlflow_is_refused_before_anything_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(errors, "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r"^mlflow: the package mlflow is not installed; .*contrapose\[mlflow\]"):
        validate_run(RunConfig(model="mock", mlflow="nightly"))


def test_a_real_store_of_files_is_said_to_be_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("mlflow", reason="needs the extra mlflow")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"file://{tmp_path}/store")
    (told,) = track(published(tmp_path), summary(), experiment="nightly")
    assert "MLFLOW_ALLOW_FILE_STORE=true" in told


@pytest.mark.slow
def test_a_real_store_holds_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    client = pytest.importorskip("mlflow", reason="needs the extra mlflow").MlflowClient
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path}/store.sqlite3")
    told = summary(tests=outcomes())
    assert track(published(tmp_path), told, experiment="nightly") == []
    store = client()
    (run,) = store.search_runs([store.get_experiment_by_name("nightly").experiment_id])
    assert (run.info.status, run.info.run_name) == ("FINISHED", told["run_id"])
    assert run.data.metrics["order_bias.n"] == 38
    assert run.data.tags["contrapose.order_bias.verdict"] == "fail"
    assert {each.path for each in store.list_artifacts(run.info.run_id)} == {"report.html", "summary.json", "junit.xml"}
