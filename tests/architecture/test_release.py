"""What is released: every pinned file has a hash, and a licence that lets everybody use it."""

from __future__ import annotations

import re
from importlib.metadata import metadata

import pytest
from places import REPOSITORY
from test_house import installed_by

HASHED = (REPOSITORY / "requirements.txt").read_text()
VERSIONS = dict(re.findall(r"^([\w.-]+)(?:\[.+\])?==(\S+)", HASHED, re.MULTILINE))
FREE = re.compile(
    r"MIT|BSD|Apache|Python Software|PSF|ISC|Mozilla|MPL|LGPL|Lesser|Unlicense|Public Domain|0BSD|Zlib|CNRI|Artistic"
)
"""Licences of which a library may be used in a program of any licence."""
BASE = sorted(installed_by("contrapose", ()))


def test_the_hashed_versions_are_the_pinned_ones() -> None:
    pinned = dict(re.findall(r"^([\w.-]+)==(\S+)$", (REPOSITORY / "constraints.txt").read_text(), re.MULTILINE))
    assert {name: version for name, version in VERSIONS.items() if pinned.get(name, version) != version} == {}
    assert set(BASE) <= VERSIONS.keys()


def test_every_version_has_a_hash_and_comes_from_the_index() -> None:
    entries = re.split(r"\n(?=\w)", re.sub(r"^#.*\n", "", HASHED, flags=re.MULTILINE))
    assert len(entries) == len(VERSIONS)
    for entry in entries:
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", entry), entry[:80]
    assert "@" not in HASHED


@pytest.mark.parametrize("name", BASE)
def test_every_package_of_the_base_install_is_free_to_use(name: str) -> None:
    about = metadata(name)
    said = " ".join(
        [
            about["License-Expression"] or "",
            (about["License"] or "")[:200],
            *(line for line in about.get_all("Classifier") or [] if line.startswith("License")),
        ]
    )
    assert FREE.search(said), said


def test_the_base_install_brings_no_model_library() -> None:
    assert not VERSIONS.keys() & {"torch", "transformers", "sentence-transformers", "tokenizers"}
