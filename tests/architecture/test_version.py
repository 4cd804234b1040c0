"""The version stands in pyproject.toml; all else that names it says the same."""

from __future__ import annotations

import re
import tomllib

import pytest
from places import REPOSITORY

import contrapose
from contrapose.flows.cli import main

VERSION = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]["version"]
IMAGES = [path for path in (REPOSITORY / "deployments").rglob("*") if path.suffix in {".yaml", ".json", ".md"}]


def test_the_package_and_the_command_say_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert contrapose.__version__ == VERSION
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out == f"contrapose {VERSION}\n"


def test_no_code_has_a_version_of_its_own() -> None:
    for top in ("flows", "tasks", "deployments"):
        for path in (REPOSITORY / top).rglob("*.py"):
            assert not re.search(rf"""["']{re.escape(VERSION)}["']""", path.read_text()), path


def test_images_have_the_version() -> None:
    tags = {(path.name, tag) for path in IMAGES for tag in re.findall(r"contrapose:(\d+(?:\.\w+)*)", path.read_text())}
    assert len({name for name, _ in tags}) >= 5
    assert {tag for _, tag in tags} == {VERSION}


def test_the_changelog_begins_with_the_version() -> None:
    (newest, *_) = re.findall(r"^## (\S+)", (REPOSITORY / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert newest == VERSION
