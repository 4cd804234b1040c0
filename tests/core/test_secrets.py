"""Secrets are read where they are needed, and are in nothing that a run leaves behind."""

from __future__ import annotations

import logging
import os
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from fake_endpoint import Endpoint
from sqlalchemy import make_url

from contrapose.flows.cli import main
from contrapose.tasks.config.data_settings import DataSettings
from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.config.suite_files import validate
from contrapose.tasks.core.errors import ConfigError, ModelError
from contrapose.tasks.core.secrets import read_environment_secret, read_secret_block, resolve_secret
from contrapose.tasks.infer.mock import Mock
from contrapose.tasks.infer.openai.key import NO_KEY, read_key
from contrapose.tasks.store.engine import store_url
from contrapose.tasks.tables.table import open_storage

KEY = "sk-live-4f9a71c2e8"
PASSWORD = "hunter2-7d1e55b0"
OWN = "http://127.0.0.1:1/v1"


def block(name: str, value: object) -> str:
    """Keep a value in a Prefect Secret block."""
    from prefect.blocks.system import Secret

    Secret(value=value).save(name, overwrite=True)
    return name


@pytest.mark.usefixtures("prefect_server")
def test_a_block_is_read_anew_each_time() -> None:
    for value in ("first", "second"):
        assert read_secret_block(block("changing", f" {value}\n"), where="here") == value


@pytest.mark.usefixtures("prefect_server")
def test_a_block_that_does_not_exist_is_named() -> None:
    with pytest.raises(ConfigError, match="'no-such-block' does not exist"):
        read_secret_block("no-such-block", where="here")


@pytest.mark.usefixtures("prefect_server")
def test_a_block_without_text_is_refused_and_not_shown() -> None:
    with pytest.raises(ConfigError, match="holds no text") as error:
        read_secret_block(block("structured", {"key": KEY}), where="here")
    assert KEY not in str(error.value)


def test_a_secret_where_its_name_belongs_is_refused_and_not_shown() -> None:
    for read in (read_secret_block, read_environment_secret):
        with pytest.raises(ConfigError, match="is not a valid name") as error:
            read("sk-LIVE-4f9a", where="model_args")
        assert "4f9a" not in str(error.value)


@pytest.mark.usefixtures("prefect_server")
def test_the_key_comes_from_a_block() -> None:
    bound = {"key": KEY, "hosts": ["127.0.0.1"]}
    spec = ModelSpec(id="openai/x", args={"api_key_block": block("the-key", bound)})
    assert read_key(spec, base_url=OWN) == KEY


def test_two_places_of_the_key_are_refused() -> None:
    spec = ModelSpec(id="openai/x", args={"api_key_block": "a", "api_key_env": "A"})
    with pytest.raises(ModelError, match="api_key_env and api_key_block are both set"):
        read_key(spec, base_url=OWN)


def test_a_server_of_ones_own_needs_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert read_key(ModelSpec(id="openai/x"), base_url=OWN) == NO_KEY


def test_the_name_of_a_key_is_no_secret_whichever_provider_would_read_it() -> None:
    spec = RunConfig(model="mock", model_args={"api_key_env": "MY_KEY"}).model_spec()
    with pytest.raises(ModelError, match="unknown argument 'api_key_env'"):
        Mock().identity(spec)


def test_what_names_no_block_is_taken_as_it_is() -> None:
    assert resolve_secret("sqlite:///x", where="here") == "sqlite:///x"


@pytest.mark.parametrize("password", [f"a@{PASSWORD}", f"a@b:{PASSWORD}"])
def test_a_store_whose_password_is_not_escaped_is_refused_and_not_shown(
    password: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CONTRAPOSE_STORE", f"postgresql+psycopg://user:{password}@127.0.0.1:1/db")
    assert main(["cache", "info"]) == 2
    told = capsys.readouterr().err
    assert "%40" in told
    assert PASSWORD not in told


def test_a_password_in_the_address_of_data_or_tables_is_refused_and_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    address = f"ftp://user:{PASSWORD}@host/rows.jsonl"
    monkeypatch.setenv("CONTRAPOSE_STORAGE", address)
    for refused in (lambda: validate({"data": address}, where="suite"), open_storage):
        with pytest.raises(ConfigError, match="an address with a password") as error:
            refused()
        assert PASSWORD not in str(error.value)


@pytest.mark.parametrize(
    "address",
    [
        f"zip://*.csv::https://user:{PASSWORD}@host/a.zip",
        f"simplecache::ftp://user:a@{PASSWORD}@host/a.csv",
        f"https://{PASSWORD}@host/a.csv",
        f"https://host/a.csv?version=2&sig={PASSWORD}",
        f"https://host/a.csv?X-Amz-Signature={PASSWORD}",
        f"zip://a.csv::https://host/a.zip?access_token={PASSWORD}",
    ],
)
def test_a_secret_in_any_part_of_an_address_is_refused_and_not_shown(address: str) -> None:
    with pytest.raises(ConfigError, match="an address with a password or a token") as error:
        validate({"data": address}, where="suite")
    assert PASSWORD not in str(error.value)


@pytest.mark.parametrize(
    "address",
    [
        "sftp://user@host/x.csv", "s3://bucket/a:b@c.csv", "/folder/a:b@c.csv", "/folder/a?token=b.csv",
        "zip://*.csv::s3://bucket/a.zip", "https://host/a.csv?version=2&download=1", "negation",
    ],
)  # fmt: skip
def test_an_address_without_a_password_is_taken(address: str) -> None:
    assert DataSettings(source=address).source == address


@pytest.mark.usefixtures("prefect_server", "in_tmp")
def test_nothing_that_a_run_leaves_holds_a_secret(
    server: Endpoint,
    postgres_url: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    store = make_url(postgres_url).set(password=PASSWORD).render_as_string(hide_password=False)
    monkeypatch.setenv("CONTRAPOSE_STORE", f"secret://{block('store-with-password', store)}")
    begun = time.time()
    # The endpoint repeats the key in what it says about every third request.
    server.faults = dict.fromkeys(range(0, 60, 3), "status 400")
    for logger in ("", "prefect", "prefect.flow_runs", "prefect.task_runs", "sqlalchemy.engine", "openai"):
        caplog.set_level(logging.DEBUG, logger=logger)
    arguments = ["--model", "openai/fake", "--test", "add_toxic_words", "--limit", "12"]
    arguments += ["--set", f"model_args.base_url=http://127.0.0.1:{server.port}/v1"]
    bound = {"key": KEY, "hosts": [f"127.0.0.1:{server.port}"]}
    arguments += ["--set", f"model_args.api_key_block={block('endpoint-key', bound)}"]
    assert main(["doctor", *arguments]) == 0
    assert main(["run", *arguments]) == 4
    assert main(["cache", "info"]) == 0
    assert server.header == f"Bearer {KEY}"
    assert store_url() == store

    captured = capsys.readouterr()
    left = {"logs": caplog.text, "output": captured.out + captured.err, "store": stored(store)} | files(since=begun)
    kept = "".join(text for place, text in left.items() if place.startswith(prefect_database()))
    assert "endpoint-key" in kept
    assert "fell over with Bearer …" in "".join(left.values())
    for secret in (KEY, PASSWORD):
        assert [place for place, text in left.items() if secret in text] == []


def prefect_database() -> str:
    """Path of the file in which the Prefect server keeps everything; the newest lies in a log beside it."""
    from prefect.settings import PREFECT_API_DATABASE_CONNECTION_URL

    return str(make_url(str(PREFECT_API_DATABASE_CONNECTION_URL.value())).database)


def stored(url: str) -> str:
    """All rows of the response store."""
    from contrapose.tasks.store.opening import connect
    from contrapose.tasks.store.schema import METADATA

    with connect(url).connect() as connection:
        return str([connection.execute(table.select()).all() for table in METADATA.tables.values()])


def files(*, since: float) -> dict[str, str]:
    """Every file of the run, of our caches and of Prefect that was written since a moment, as text."""
    folders = [Path("runs"), os.environ["CONTRAPOSE_HOME"], os.environ["PREFECT_HOME"], Path(prefect_database()).parent]
    paths = [Path(top) / name for folder in folders for top, _, names in os.walk(folder) for name in names]
    assert any(path.name == "manifest.json" for path in paths)
    # The clock of files may lag behind the other one by some milliseconds.
    written = (path for path in paths if path.is_file() and path.stat().st_mtime >= since - 1)
    return {str(path): text(path) for path in written}


def text(path: Path) -> str:
    if path.suffix == ".parquet":
        return str(pq.read_table(path).to_pylist())
    return path.read_bytes().decode("utf-8", "replace")
