"""A case of no probe in particular, for tests of how cases are asked."""

from __future__ import annotations

from contrapose.tasks.core.records import Case


def case(name: str = "one", **changes: object) -> Case:
    values: dict[str, object] = {
        "id": f"p/{name}",
        "sample_id": name,
        "probe": "p",
        "version": "1",
        "original": "It is.",
        "perturbed": "It is not.",
        "original_prompt": "It is.",
        "perturbed_prompt": "It is not.",
        "scorer": "s",
        "asks": "generate",
    }
    return Case(**{**values, **changes})  # type: ignore[arg-type]


def lettered(name: str, **changes: object) -> Case:
    """A case whose replies are letters, with prompts of its own."""
    prompts = {"original_prompt": f"{name}?", "perturbed_prompt": f"{name}, swapped?"}
    return case(name, **{**prompts, "labels": ("A", "B"), "options": ("x", "y"), "scorer": "reply", **changes})
