"""Prefect's server as we start it: its own database, transactions that wait, pages for this machine alone."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from own_process import Ended, run_process
from plain_prefect import put_own_database
from prefect.server.database import dependencies
from prefect.server.database.configurations import AioSqliteConfiguration
from prefect.settings import (
    PREFECT_API_DATABASE_CONNECTION_URL,
    PREFECT_API_URL,
    PREFECT_SERVER_API_PORT,
    PREFECT_SERVER_DATABASE_CONNECTION_URL,
    temporary_settings,
)
from sqlalchemy import text

from contrapose.flows.cli.doctor.server import check_prefect
from contrapose.flows.serve import prefect_app, prefect_database
from contrapose.flows.serve.prefect_database import find_database_problem, find_own_file, find_used_file
from contrapose.flows.serve.queued_sqlite import QueuedSqlite

RUN = ["run", "--model", "mock", "--test", "order_bias", "--limit", "3", "--quiet", "--exit-zero"]
OTHER_PREFECT = "3.9.1"


def write_database(file: Path, *, revision: str) -> Path:
    """A database with a revision, as Prefect notes it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("CREATE TABLE alembic_version (version_num VARCHAR)")
        connection.execute("INSERT INTO alembic_version VALUES (?)", [revision])
    return file


def contrapose(home: Path, *words: str, python: str = sys.executable, **more: str) -> Ended:
    """The command of a user who has set nothing about Prefect and Contrapose."""
    usual = {name: value for name, value in os.environ.items() if not name.startswith(("PREFECT_", "CONTRAPOSE_"))}
    code = (
        f"import sys; sys.argv = ['contrapose', *{list(words)!r}]; import contrapose.flows.cli as c; sys.exit(c.main())"
    )
    own = {"HOME": str(home), "XDG_CACHE_HOME": str(home / ".cache")}
    return run_process(python, "-P", "-c", code, env=usual | own | more, cwd=home)


@pytest.mark.slow
def test_a_run_leaves_the_users_own_database_as_it_is(tmp_path: Path) -> None:
    users = write_database(tmp_path / ".prefect" / "prefect.db", revision="of-the-future")
    before = users.read_bytes()
    put_own_database(tmp_path / ".cache" / "contrapose")
    done = contrapose(tmp_path, *RUN)
    assert (done.returncode, done.stderr) == (0, "")
    assert users.read_bytes() == before
    assert [path.name for path in users.parent.glob("prefect.db*")] == ["prefect.db"]


@pytest.mark.usefixtures("own_home")
def test_only_a_database_that_the_user_named_is_used_in_place_of_our_own() -> None:
    with temporary_settings(restore_defaults={PREFECT_SERVER_DATABASE_CONNECTION_URL}):
        assert find_used_file() == find_own_file()
    for url, file in {
        "sqlite+aiosqlite:////home/me/prefect.db": Path("/home/me/prefect.db"),
        "postgresql+asyncpg://me@localhost/prefect": None,
    }.items():
        with temporary_settings({PREFECT_SERVER_DATABASE_CONNECTION_URL: url}):
            assert find_used_file() == file


@pytest.fixture
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CONTRAPOSE_HOME", str(tmp_path))
    return tmp_path


def test_a_new_version_begins_with_a_copy_of_what_the_newest_older_one_recorded(
    own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    versions = {"3.9.0": "a", "3.10.0": "b", "99.0": "c", "no version": "d"}
    written = {
        version: write_database(own_home / "prefect" / version / "prefect.db", revision=revision)
        for version, revision in versions.items()
    }
    before = {version: file.read_bytes() for version, file in written.items()}
    monkeypatch.setattr(prefect_database.metadata, "version", lambda _: "3.11.0")
    used = list[str]()
    monkeypatch.setattr("contrapose.flows.serve.server_key.use_in_process", lambda values: used.extend(values.values()))
    with temporary_settings(restore_defaults={PREFECT_SERVER_DATABASE_CONNECTION_URL}):
        prefect_database.use_own_database()
    with closing(sqlite3.connect(find_own_file())) as copied:
        assert copied.execute("SELECT version_num FROM alembic_version").fetchall() == [("b",)]
    assert used == [f"sqlite+aiosqlite:///{own_home}/prefect/3.11.0/prefect.db"]
    assert {version: file.read_bytes() for version, file in written.items()} == before


def test_the_doctor_looks_at_the_database(own_home: Path) -> None:
    with temporary_settings(restore_defaults={PREFECT_API_URL, PREFECT_SERVER_DATABASE_CONNECTION_URL}):
        assert next(check_prefect()).state == "ok"
        write_database(find_own_file(), revision="0123456789ab")
        finding = next(check_prefect())
        assert (finding.state, "revision 0123456789ab" in finding.observed) == ("problem", True)
        assert finding.remedy.startswith(f"Rename {find_own_file()}")
        find_own_file().unlink()
        put_own_database(own_home)
        assert find_database_problem(find_own_file()) == ""
        find_own_file().write_bytes(b"No database. " * 400)
        assert "not a database" in next(check_prefect()).observed


@pytest.mark.slow
def test_two_versions_of_prefect_run_in_turn_in_one_home(tmp_path: Path) -> None:
    """Each works again after the other, and neither touches the database of the user's own Prefect."""
    site = next(path for path in sys.path if path.endswith("site-packages"))
    other = tmp_path / "other"
    subprocess.run([sys.executable, "-m", "venv", other], check=True)
    install = [other / "bin" / "pip", "install", "-q", f"prefect=={OTHER_PREFECT}", "fastapi<0.151", "sqlalchemy<2.1"]
    if subprocess.run(install, check=False, capture_output=True).returncode:
        pytest.skip(f"prefect {OTHER_PREFECT} cannot be installed")
    [packages] = other.glob("lib/python*/site-packages")
    (packages / "after.pth").write_text(f"import site; site.addsitedir({site!r})\n")
    home = tmp_path / "home"
    users = write_database(home / ".prefect" / "prefect.db", revision="of-the-user")
    before = users.read_bytes()
    for python in (sys.executable, str(other / "bin" / "python"), sys.executable):
        done = contrapose(home, *RUN, "--refresh", python=python)
        assert (done.returncode, done.stderr) == (0, "")
        assert users.read_bytes() == before
    versions = [path.name for path in (home / ".cache" / "contrapose" / "prefect").iterdir()]
    assert len(versions) == 2
    assert OTHER_PREFECT in versions


async def read_then_write(database: AioSqliteConfiguration, times: int) -> int:
    """Two writers, each of which reads before it writes; the sum that both have counted to."""
    engine = await database.engine()
    async with engine.begin() as setup:
        await setup.execute(text("CREATE TABLE counter (n INTEGER)"))
        await setup.execute(text("INSERT INTO counter VALUES (0)"))

    async def count() -> None:
        for _ in range(times):
            session = await database.session(engine)
            async with session, database.begin_transaction(session):
                now = (await session.execute(text("SELECT n FROM counter"))).scalar_one()
                await asyncio.sleep(0.01)
                await session.execute(text("UPDATE counter SET n = :n"), {"n": now + 1})

    await asyncio.gather(count(), count())
    async with engine.connect() as reader:
        counted = (await reader.execute(text("SELECT n FROM counter"))).scalar_one()
    await engine.dispose()
    return int(counted)


def test_transactions_wait_for_each_other(tmp_path: Path) -> None:
    queued = QueuedSqlite(connection_url=f"sqlite+aiosqlite:///{tmp_path}/queued.db")
    assert asyncio.run(read_then_write(queued, 5)) == 10


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[int, str]]]:
    """The port that was served, and the class of the database's configuration then."""
    seen: list[tuple[int, str]] = []

    def run(application: str, *, port: int, **_: object) -> None:
        assert application == f"{prefect_app.__name__}:{prefect_app.create.__name__}"
        configured = type(dependencies.MODELS_DEPENDENCIES["database_config"]).__name__
        seen.append((port, configured))

    monkeypatch.setattr("uvicorn.run", run)
    monkeypatch.setitem(dependencies.MODELS_DEPENDENCIES, "database_config", None)
    yield seen
    assert dependencies.MODELS_DEPENDENCIES["database_config"] is None


@pytest.mark.parametrize(
    ("url", "configured"),
    [
        ("sqlite+aiosqlite:////tmp/prefect.db", "QueuedSqlite"),
        ("postgresql+asyncpg://user:secret@localhost/prefect", "NoneType"),
    ],
)
def test_only_sqlite_is_queued(started: list[tuple[int, str]], url: str, configured: str) -> None:
    with temporary_settings({PREFECT_API_DATABASE_CONNECTION_URL: url, PREFECT_SERVER_API_PORT: 4711}):
        prefect_app.main()
    assert started == [(4711, configured)]


async def application(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/html")]})
    await send({"type": "http.response.body", "body": b"page"})


def policy_of_a_page() -> dict[str, list[str]]:
    """Sources that the policy of a page allows, by what is loaded."""
    sent: list[Any] = []

    async def keep(message: Any) -> None:
        sent.append(message)

    asyncio.run(prefect_app.block_telemetry(application, 4200)({"type": "http"}, None, keep))  # type: ignore[arg-type]
    headers = dict(sent[0]["headers"])
    assert headers[b"content-type"] == b"text/html"
    rules = headers[b"content-security-policy"].decode().split("; ")
    return {rule.split()[0]: rule.split()[1:] for rule in rules}


def test_a_page_sends_nothing_elsewhere_and_loads_no_script_from_there() -> None:
    policy = policy_of_a_page()
    assert {"connect-src", "script-src", "worker-src", "frame-src"} == set(policy)
    sources = {source for allowed in policy.values() for source in allowed}
    here = {"'self'", "'unsafe-inline'", "'unsafe-eval'", "blob:", "data:"}
    assert sources - here == {"ws://127.0.0.1:4200", "ws://localhost:4200"}
