"""A model that is another one than it was found to be."""

from __future__ import annotations

from collections.abc import Mapping

from contrapose.tasks.core.errors import ModelError


def refuse_changed(now: Mapping[str, str], found: Mapping[str, str], *, model: str) -> None:
    """Refuse a model that has become another one.

    Args:
        now: what its provider finds it to be.
        found: what it was found to be before.
        model: its id.

    Raises:
        ModelError: they differ.
    """
    for name in {**found, **now}:
        if now.get(name) != found.get(name):
            raise ModelError(
                f"the model was replaced meanwhile: its {name} was {found.get(name)!r} and is {now.get(name)!r}",
                expected="the same model from the first look to the last answer",
                remedy="Leave it as it is until the evaluation has ended, and start again.",
                where=model,
            )
