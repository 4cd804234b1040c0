"""Every picture and page of the gallery is made by `make pictures`, shown by a page, small, and names no machine."""

from __future__ import annotations

import base64
import gzip
import re
from itertools import chain
from pathlib import Path

import pytest
from docs_pages import DOCS, pages

LINK = re.compile(r"\]\(([^)\s]+\.(?:png|html))(?:#[^)]*)?\)")
MACHINE = re.compile(r"/(?:tmp|home|root|Users|work)/[\w./-]+")

PACKED = re.compile(r"H4sI[\w+/]{40,}=*")
"""Rows of a report: compressed JSON."""


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Places below docs that the script writes to."""
    monkeypatch.syspath_prepend(DOCS / "tools")
    import pictures
    import prefect_pages

    names = {pictures.TERMINAL, *pictures.VIEWS, *prefect_pages.PICTURES}
    return names | {f"gallery/{name}" for name in pictures.PAGES}


def kept() -> list[Path]:
    return [*DOCS.glob("*.png"), *DOCS.glob("gallery/*/*")]


def test_there_is_exactly_what_the_script_makes(made: set[str]) -> None:
    assert {path.relative_to(DOCS).as_posix() for path in kept()} == made


def test_each_is_shown(made: set[str]) -> None:
    links = chain.from_iterable(
        ((path.parent / target).resolve() for target in LINK.findall(path.read_text("utf-8"))) for path in pages()
    )
    # A report links to its own validation.
    wanted = {name for name in made if not name.endswith("/validation.html")}
    assert {link.relative_to(DOCS).as_posix() for link in links if link.is_relative_to(DOCS)} >= wanted


def test_each_is_small() -> None:
    sizes = {path.name: path.stat().st_size for path in kept()}
    assert {name: size for name, size in sizes.items() if size > 600_000} == {}


@pytest.mark.parametrize(
    "page", sorted(DOCS.glob("gallery/*/*.html")), ids=lambda page: f"{page.parent.name}/{page.name}"
)
def test_no_page_names_a_folder_of_the_machine_it_was_made_on(page: Path) -> None:
    text = page.read_text("utf-8")
    unpacked = [gzip.decompress(base64.b64decode(block)).decode() for block in PACKED.findall(text)]
    assert MACHINE.findall("\n".join([PACKED.sub("", text), *unpacked])) == []
