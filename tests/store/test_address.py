"""Where the store is: named by the environment, else in the user's cache, and shown without what is secret."""

from __future__ import annotations

from pathlib import Path

import pytest

from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.store.engine import refuse_unreadable, remove_password, store_url


def test_the_environment_names_the_store(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTRAPOSE_STORE", "sqlite:////srv/mine.sqlite3")
    assert store_url() == "sqlite:////srv/mine.sqlite3"


@pytest.mark.parametrize("value", [None, ""])
def test_without_a_name_it_lies_in_the_users_cache(
    value: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONTRAPOSE_HOME", str(tmp_path))
    monkeypatch.delenv("CONTRAPOSE_STORE", raising=False)
    if value is not None:
        monkeypatch.setenv("CONTRAPOSE_STORE", value)
    assert store_url() == f"sqlite:///{tmp_path}/answers.sqlite3"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("postgresql+psycopg://me:hunter2@host:5432/name", "postgresql+psycopg://me:***@host:5432/name"),
        ("postgresql+psycopg://host/name?password=hunter2", "postgresql+psycopg://host/name"),
        ("sqlite:////srv/a.sqlite3", "sqlite:////srv/a.sqlite3"),
        # An @ in the password ends it too early, and the rest would be shown as the host.
        ("postgresql+psycopg://me:hun@ter2@host/name", "CONTRAPOSE_STORE"),
        ("hunter2", "CONTRAPOSE_STORE"),
        ("postgresql://me:hunter2@host:port/name", "CONTRAPOSE_STORE"),
    ],
)
def test_an_address_is_shown_without_its_password(url: str, expected: str) -> None:
    assert remove_password(url) == expected
    assert "hunter2" not in remove_password(url)
    assert "ter2" not in remove_password(url)


@pytest.mark.parametrize("url", ["postgresql+psycopg://me:hunter2@host/name", "sqlite:////srv/a.sqlite3", "sqlite://"])
def test_a_readable_address_is_shown_and_not_refused(url: str) -> None:
    refuse_unreadable(url)
    assert remove_password(url) == url.replace("hunter2", "***")


@pytest.mark.parametrize("url", ["hunter2", "postgresql://me:hunter2@host:port/name", ""])
def test_what_is_no_address_is_refused_without_being_shown(url: str) -> None:
    with pytest.raises(ConfigError, match="cannot be read") as refused:
        refuse_unreadable(url)
    assert refused.value.where == "CONTRAPOSE_STORE"
    assert "hunter2" not in str(refused.value)
