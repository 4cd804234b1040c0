"""Registry of tests, providers, data sources and reports by name: add a file and a line here for a new one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from importlib import import_module, metadata
from importlib.metadata import EntryPoints, entry_points
from typing import TYPE_CHECKING, Any, Literal, overload

from contrapose.tasks.core.errors import ConfigError, suggest_name
from contrapose.tasks.core.provider import Argument, Described

if TYPE_CHECKING:
    from contrapose.tasks.config.data_settings import DataSettings
    from contrapose.tasks.config.model_spec import ModelSpec
    from contrapose.tasks.infer.base import Provider
    from contrapose.tasks.load.rows import Row
    from contrapose.tasks.probes.base import Probe
    from contrapose.tasks.report.base import Report

PROBES = {
    "add_negation": "contrapose.tasks.probes.negation:AddNegation",
    "add_toxic_words": "contrapose.tasks.probes.toxic_words:AddToxicWords",
    "order_bias": "contrapose.tasks.probes.order_bias:OrderBias",
    "judge_order": "contrapose.tasks.probes.judge_order:JudgeOrder",
    "judge_cues": "contrapose.tasks.probes.judge_cues:JudgeCues",
    "option_order": "contrapose.tasks.probes.option_order:OptionOrder",
    "antonym": "contrapose.tasks.probes.edits.antonym:Antonym",
    "change_number": "contrapose.tasks.probes.edits.change_number:ChangeNumber",
    "typo": "contrapose.tasks.probes.edits.preserving:Typo",
    "casing": "contrapose.tasks.probes.edits.preserving:Casing",
    "spacing": "contrapose.tasks.probes.edits.preserving:Spacing",
    "contractions": "contrapose.tasks.probes.edits.wording:Contractions",
    "abbreviations": "contrapose.tasks.probes.edits.wording:Abbreviations",
    "ocr_slips": "contrapose.tasks.probes.edits.wording:OcrSlips",
    "spelling": "contrapose.tasks.probes.edits.wording:Spelling",
    "context": "contrapose.tasks.probes.edits.wording:Context",
    "names": "contrapose.tasks.probes.edits.people:Names",
    "gender": "contrapose.tasks.probes.edits.people:SwappedGender",
    "countries": "contrapose.tasks.probes.edits.countries:Countries",
    "item_order": "contrapose.tasks.probes.item_order:ItemOrder",
    "tool_order": "contrapose.tasks.probes.tools:ToolOrder",
    "tool_names": "contrapose.tasks.probes.tools:ToolNames",
}

NAMED_PROBES = {"relation": "contrapose.tasks.probes.relation:Relation"}
"""Probes of which a suite makes several tests, each with a name of its own: `relation.<name>`."""

PROVIDERS = {
    "embedded": "contrapose.tasks.infer.local.embedded:Embedded",
    "hf": "contrapose.tasks.infer.local.huggingface:HuggingFace",
    "openai": "contrapose.tasks.infer.openai:OpenAI",
    "anthropic": "contrapose.tasks.infer.openai:anthropic",
    "azure": "contrapose.tasks.infer.openai:azure",
    "bedrock": "contrapose.tasks.infer.openai:bedrock",
    "deepseek": "contrapose.tasks.infer.openai:deepseek",
    "gemini": "contrapose.tasks.infer.openai:gemini",
    "groq": "contrapose.tasks.infer.openai:groq",
    "mistral": "contrapose.tasks.infer.openai:mistral",
    "openrouter": "contrapose.tasks.infer.openai:openrouter",
    "together": "contrapose.tasks.infer.openai:together",
    "lmstudio": "contrapose.tasks.infer.openai:lmstudio",
    "ollama": "contrapose.tasks.infer.openai:ollama",
    "vllm": "contrapose.tasks.infer.openai:vllm",
    "litellm": "contrapose.tasks.infer.litellm:LiteLLM",
    "app": "contrapose.tasks.infer.app:App",
    "function": "contrapose.tasks.infer.function:Function",
    "recorded": "contrapose.tasks.infer.recorded:RecordedReplies",
    "mock": "contrapose.tasks.infer.mock:Mock",
}

SOURCES = {
    "bundled": "contrapose.tasks.load.bundled:read_rows",
    "hf": "contrapose.tasks.load.huggingface:read_rows",
    "jsonl": "contrapose.tasks.load.jsonl:read_rows",
    "json": "contrapose.tasks.load.jsonl:read_rows",
    "csv": "contrapose.tasks.load.tabular:read_rows",
    "tsv": "contrapose.tasks.load.tabular:read_rows",
    "parquet": "contrapose.tasks.load.tabular:read_rows",
    "xlsx": "contrapose.tasks.load.tabular:read_rows",
}

REPORTS = {
    "results.csv": "contrapose.tasks.report.csv:render",
    "summary.json": "contrapose.tasks.report.summary:render",
    "junit.xml": "contrapose.tasks.report.junit:render",
    "inspect.eval": "contrapose.tasks.report.inspect_log:render",
    "report.md": "contrapose.tasks.report.markdown:render",
    "report.html": "contrapose.tasks.report.html:render",
    "certificate.html": "contrapose.tasks.report.certificate_page:render_run",
    "certificate.json": "contrapose.tasks.report.certificate_page:render_run_json",
    "validation.json": "contrapose.tasks.report.validation:render_json",
    "validation.html": "contrapose.tasks.report.validation:render",
}


@cache
def names(kind: str) -> dict[str, str]:
    """Return the names of a kind (`probes`, `providers`, `sources`, `reports`) and the module of each.

    Other packages add theirs through the entry point group `contrapose.<kind>`.
    """
    own = {"probes": PROBES, "providers": PROVIDERS, "sources": SOURCES, "reports": REPORTS}[kind]
    others = {point.name: point.value for point in _find_entry_points(kind)}
    # Ours come first, and none of them can be taken over.
    return own | others | own


@overload
def find(kind: Literal["probes"], name: str) -> Callable[[], Probe]: ...


@overload
def find(kind: Literal["providers"], name: str) -> Callable[[], Provider]: ...


@overload
def find(kind: Literal["sources"], name: str) -> Callable[[DataSettings], Iterator[Row]]: ...


@overload
def find(kind: Literal["reports"], name: str) -> Callable[[Report], bytes | Iterator[bytes] | None]: ...


def find(kind: str, name: str) -> Any:
    """Import and return the object with a name, or raise ConfigError if it is unknown or its package is broken."""
    table = names(kind) | (NAMED_PROBES if kind == "probes" else {})
    if name not in table:
        raise ConfigError(
            f"unknown {kind.rstrip('s')} {name!r}",
            expected=f"one of {', '.join(sorted(table))}",
            remedy=suggest_name(name, table, otherwise="Correct the name, or install the package that provides it."),
        )
    module, _, attribute = table[name].partition(":")
    try:
        return getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        if not (others := find_foreign_packages(kind, name)):
            raise
        package = ", ".join(others)
        raise ConfigError(
            f"the {kind.rstrip('s')} {name!r} of the package {package} cannot be imported ({error})",
            expected=f"{module}:{attribute}, as its entry point says",
            remedy=f"Install {package} again, or remove it.",
        ) from error


def list_modules(kind: str, name: str) -> list[str]:
    """Return the modules of `name`, or of all names in the table if `name` is empty."""
    table = names(kind) | (NAMED_PROBES if kind == "probes" else {})
    chosen = [table[base_name(name)]] if name else sorted(table.values())
    return list(dict.fromkeys(place.partition(":")[0] for place in chosen))


def find_foreign_packages(kind: str, name: str) -> dict[str, str]:
    """Return the foreign package that provides `name`, with its version; empty if Contrapose provides it."""
    value = names(kind).get(name)
    points = [point for point in _find_entry_points(kind) if (point.name, point.value) == (name, value)]
    return {point.dist.name: point.dist.version for point in points if point.dist}


def find_installed_versions(packages: Iterable[str]) -> dict[str, str]:
    """Return the version of each installed package, without importing any."""
    installed = dict[str, str]()
    for package in packages:
        with suppress(metadata.PackageNotFoundError):
            installed[package] = metadata.version(package)
    return installed


@cache
def _find_entry_points(kind: str) -> EntryPoints:
    """Return the entry points of other packages; this reads the files of all installed packages."""
    return entry_points(group=f"contrapose.{kind}")


@cache
def provider(name: str) -> Described:
    """Return the provider with a name, or raise ConfigError."""
    return find("providers", name)()


def own_arguments(name: str) -> tuple[str, Mapping[str, Argument]]:
    """Return the first provider of the same class (empty if it is this one) and the arguments that differ."""
    own = provider(name)
    first = next(other for other in names("providers") if type(provider(other)) is type(own))
    if first == name:
        return "", own.arguments
    known = provider(first).arguments
    return first, {key: argument for key, argument in own.arguments.items() if known.get(key) != argument}


def select_answer_arguments(spec: ModelSpec) -> dict[str, Any]:
    """Return the arguments of a model that can change its answers, so neither its speed limits nor its key."""
    known = provider(spec.provider).arguments
    return {name: value for name, value in spec.args.items() if name not in known or known[name].role == "answers"}


def base_name(test: str) -> str:
    """Return a test's name in the registry: `relation` for `relation.<name>`, otherwise the test's own name."""
    base, dot, own = test.partition(".")
    return base if dot and own and base in NAMED_PROBES else test


def config_key(test: str) -> str:
    """Return a test's key below its category in a configuration: `x` for `relation.x`."""
    return test if base_name(test) == test else test.partition(".")[2]


def is_probe(test: str) -> bool:
    """Return whether there is a test with a name."""
    return test in names("probes") or base_name(test) != test


@cache
def probe(name: str) -> Probe:
    """Return the probe with a name, or raise ConfigError; `relation.<name>` returns a relation with that name."""
    kind: Any = find("probes", base_name(name))
    if base_name(name) != name:
        kind = type(kind.__name__, (kind,), {"name": name, "version": kind.version, "__module__": kind.__module__})
    chosen: Probe = kind()
    return chosen
