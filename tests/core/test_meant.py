"""An unknown name is told with the one that was probably meant."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from contrapose.flows.orchestration.options import select_tests
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.config.suite_files import load_config
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.registry import find


@pytest.mark.parametrize(
    ("use", "meant"),
    [
        (lambda: select_tests(RunConfig(), ["add_negatoin"]), "add_negation"),
        (lambda: load_config("fulll"), "full"),
        (lambda: find("providers", "mok"), "mock"),
    ],
)
def test_the_closest_name_is_offered(use: Callable[[], object], meant: str) -> None:
    with pytest.raises(ConfigError, match=f"Did you mean '{meant}'"):
        use()


def test_a_name_like_no_other_gets_the_other_remedy() -> None:
    with pytest.raises(ConfigError, match="install the package that provides it"):
        find("providers", "xyz")
