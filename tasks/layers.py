"""Settings laid over others: a suite's, a run's, a test's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contrapose.tasks.data_settings import DataSettings


def merged(base: Any, changes: Any) -> Any:
    """Changes laid over a base: mappings key by key, everything else replaced."""
    if not (isinstance(base, Mapping) and isinstance(changes, Mapping)):
        return changes
    return {**base, **{key: merged(base.get(key), value) for key, value in changes.items()}}


def data_of(own: Any, general: Any) -> DataSettings:
    """The data of a test.

    Args:
        own: what the test says itself; without a source it is laid over `general`, with one it replaces that.
        general: the run's data, or the bundled samples of the test.

    Raises:
        ValidationError: what the test says itself is wrong.
    """
    base = DataSettings.model_validate(general)
    if not own:
        return base
    partial = isinstance(own, Mapping) and "source" not in own
    return DataSettings.model_validate(merged(base.model_dump(), own) if partial else own)
