"""Names of tests, models and suites: what other packages provide, and what was probably meant."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from contrapose.flows.orchestration.options import select_tests
from contrapose.tasks.config.plan import _make_plan
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.config.suite_files import load_config
from contrapose.tasks.core import registry
from contrapose.tasks.core.errors import ConfigError

CODE = """
from contrapose.tasks.probes.edits.preserving import Typo
class Mine(Typo):
    name, version = "mine", "{version}"
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An installed distribution with a probe of its own."""
    (tmp_path / "mine.py").write_text(CODE.format(version=7))
    info = tmp_path / "mine_probes-1.5.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mine-probes\nVersion: 1.5\n")
    (info / "entry_points.txt").write_text("[contrapose.probes]\nmine = mine:Mine\n")
    monkeypatch.syspath_prepend(tmp_path)
    registry.names.cache_clear()
    registry._find_entry_points.cache_clear()
    yield tmp_path
    registry.names.cache_clear()
    registry._find_entry_points.cache_clear()
    registry.probe.cache_clear()
    sys.modules.pop("mine", None)


def versions(name: str) -> Mapping[str, str]:
    return _make_plan(name, registry.probe(name).settings_type(), RunConfig(model="mock")).versions


def test_the_plan_of_a_foreign_probe_names_its_package_and_its_version(package: Path) -> None:
    assert {"mine-probes": "1.5", "probe mine": "7"}.items() <= versions("mine").items()


def test_our_own_code_is_hashed_instead(package: Path) -> None:
    assert versions("order_bias") == {}


def test_a_package_that_is_broken_is_named_in_one_line(package: Path) -> None:
    (package / "mine.py").unlink()
    with pytest.raises(ConfigError, match=r"'mine' of the package mine-probes cannot be imported") as caught:
        registry.find("probes", "mine")
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith("Install mine-probes again, or remove it.")


@pytest.mark.parametrize(
    ("use", "meant"),
    [
        (lambda: select_tests(RunConfig(), ["add_negatoin"]), "add_negation"),
        (lambda: load_config("fulll"), "full"),
        (lambda: registry.find("providers", "mok"), "mock"),
    ],
)
def test_the_closest_name_is_offered(use: Callable[[], object], meant: str) -> None:
    with pytest.raises(ConfigError, match=f"Did you mean '{meant}'"):
        use()


def test_a_name_like_no_other_gets_the_other_remedy() -> None:
    with pytest.raises(ConfigError, match="install the package that provides it"):
        registry.find("providers", "xyz")
