"""The key of a local server: who may read it, and which command finds it."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from contrapose.flows.serve.server_key import ADDRESS, KEY, bring_key, keep_key, read_kept_key

MINE = "contrapose:mine"


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CONTRAPOSE_HOME", str(tmp_path))
    # Whatever is set under test is forgotten after it.
    monkeypatch.setenv(KEY, "")
    monkeypatch.delenv(KEY)
    return tmp_path


def test_only_its_owner_reads_it_and_it_goes_with_the_server(own_home: Path) -> None:
    with keep_key(MINE, 4200) as path:
        assert path.is_relative_to(own_home)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        assert path.read_text() == MINE
    assert not path.exists()


def test_one_that_a_killed_server_left_is_replaced() -> None:
    with keep_key("old", 4200) as path:
        path.chmod(0o644)
        with keep_key(MINE, 4200):
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
            assert read_kept_key("http://127.0.0.1:4200/api") == MINE


@pytest.mark.parametrize("url", ["http://127.0.0.1:4200/api", "http://localhost:4200/api/"])
def test_another_command_finds_it(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ADDRESS, url)
    with keep_key(MINE, 4200):
        bring_key()
    assert os.environ[KEY] == MINE


@pytest.mark.parametrize(
    "url",
    [
        *("http://127.0.0.1:4201/api", "http://evil.example:4200/api", "http://127.0.0.1.evil.example:4200/api"),
        *("http://127.0.0.1/api", "http://127.0.0.1:x/api", "http://[::1/api", "4200", "", None),
    ],
)
def test_no_other_server_is_told(url: str | None) -> None:
    with keep_key(MINE, 4200):
        assert read_kept_key(url) == ""


def test_the_users_own_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ADDRESS, "http://127.0.0.1:4200/api")
    monkeypatch.setenv(KEY, "team")
    with keep_key(MINE, 4200):
        bring_key()
    assert os.environ[KEY] == "team"


def test_a_server_that_only_a_profile_names_is_told_too(tmp_path: Path) -> None:
    (tmp_path / "profiles.toml").write_text(
        'active = "local"\n[profiles.local]\nPREFECT_API_URL = "http://127.0.0.1:4200/api"\n'
    )
    code = (
        "from contrapose.flows.serve.server_key import bring_key_as_configured; bring_key_as_configured();"
        "from prefect.settings import PREFECT_API_AUTH_STRING; print(PREFECT_API_AUTH_STRING.value())"
    )
    environment = {**os.environ, "PREFECT_HOME": str(tmp_path)}
    environment.pop(ADDRESS, None)
    with keep_key(MINE, 4200):
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [MINE]
