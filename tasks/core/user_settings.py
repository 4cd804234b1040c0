"""Base class of all settings that a user writes; it refuses unknown keys, and true or false as numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from pydantic import BaseModel, ConfigDict, ValidationInfo, field_validator


class UserSettings(BaseModel):
    """Frozen settings that refuse unknown keys, and true or false instead of a number.

    YAML reads `yes` and `on` as true, and pydantic reads true as 1.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    @field_validator("*", mode="before")
    @classmethod
    def _refuse_truth(cls, value: Any, info: ValidationInfo) -> Any:
        kinds = list_kinds(cls.model_fields[str(info.field_name)].annotation)
        if kinds & {int, float} and bool not in kinds and holds_truth(value):
            raise ValueError("true or false; expected a number")
        return value


def list_kinds(annotation: Any) -> set[Any]:
    """Return the types that an annotation names, at any depth."""
    return {annotation}.union(*map(list_kinds, get_args(annotation)))


def holds_truth(value: Any) -> bool:
    """Return whether a value is true or false, or a list or mapping that contains one."""
    if isinstance(value, Mapping):
        return any(map(holds_truth, value.values()))
    return isinstance(value, bool) or (isinstance(value, list | tuple) and any(map(holds_truth, value)))
