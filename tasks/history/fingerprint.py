"""Build the fingerprint of a run: everything that can change its results and that comparable runs must share."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence

from contrapose.tasks.config.data_settings import PLACE
from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.config.plan import Plan
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core.history_records import Facet
from contrapose.tasks.core.outcome import Outcome, Summary
from contrapose.tasks.core.registry import probe, select_answer_arguments

LIBRARIES = ("transformers", "torch")
"""Names in a model's identity that are packages, and told with these."""

LONGEST = 160
"""Characters of a value; a longer one is told by how it begins and its hash."""

Facts = dict[str, object]


def make_fingerprint(
    config: RunConfig,
    summary: Summary,
    *,
    plans: Sequence[Plan],
    identity: Mapping[str, str],
    versions: Mapping[str, str],
    embedding_revision: str,
    reader: Mapping[str, str] | None = None,
) -> dict[Facet, dict[str, str]]:
    """Return the facts that can change a run's results, by facet; the configuration never holds a secret.

    Identity and reader are what the providers found the model and the run's reader to be, None if it has no reader;
    the embedding revision is that of the embedding model.
    """
    tests = summary["tests"]
    data: Facts = {f"{test['test_type']}.sha256": test["data"]["sha256"] for test in tests}
    for plan in plans:
        settings = plan.data.model_dump(mode="json", exclude_defaults=True, exclude=PLACE)
        data |= {f"{plan.test}.{name}": value for name, value in settings.items()}
        data |= {f"{plan.test}.limit": plan.limit} if plan.limit is not None else {}
    facets: dict[Facet, Facts] = {
        "model": _list_model_facts(config.model_spec(), identity),
        "data": data,
        "prompt": _list_prompt_facts(config, tests, plans, identity),
        "scorer": {
            "embedding_model": config.embedding_model,
            "max_error_share": config.max_error_share,
            **config.tests.defaults.model_dump(mode="json", include={"gate", "min_coverage"}),
        },
        "library": {**versions, **({"engine": identity["engine"]} if "engine" in identity else {})},
    }
    for test in tests:
        name = test["test_type"]
        facets["scorer"] |= {f"{name}.scorers": ", ".join(sorted(test["scorers"]))}
        facets["scorer"] |= {f"{name}.min_pass_rate": test["min_pass_rate"], **_list_settings(test, scoring=True)}
    facets["scorer"] |= {"embedding_model_revision": embedding_revision}
    spec = config.reader_spec()
    if spec is not None and reader is not None:
        reading = _list_model_facts(spec, reader, args="args")
        facets["scorer"] |= {f"reader.{name}": value for name, value in reading.items()}
    return {facet: {name: _to_short_text(value) for name, value in facts.items()} for facet, facts in facets.items()}


def _list_model_facts(spec: ModelSpec, identity: Mapping[str, str], *, args: str = "model_args") -> Facts:
    own = {name: value for name, value in identity.items() if name not in (*LIBRARIES, "engine", "chat_template")}
    arguments = {f"{args}.{name}": value for name, value in select_answer_arguments(spec).items()}
    return {**arguments, **own, "id": spec.id, "provider": spec.provider}


def _list_prompt_facts(
    config: RunConfig, tests: Sequence[Outcome], plans: Sequence[Plan], identity: Mapping[str, str]
) -> Facts:
    facts: Facts = {
        "seed": config.seed,
        "repeats": config.repeats,
        "wordings": config.wordings if config.wordings > 1 else None,
        "system_instruction": config.system_instruction,
        "few_shot": [shot.model_dump() for shot in config.few_shot] or None,
        "apply_chat_template": config.apply_chat_template,
        "chat_template": identity.get("chat_template"),
        **{f"gen_kwargs.{name}": value for name, value in config.gen_kwargs.model_dump(mode="json").items()},
        **({"stop": "early", "runner_args.portion": config.runner_args.portion} if config.stop == "early" else {}),
    }
    for plan in plans:
        facts |= {f"{plan.test}.control": plan.control}
    for test in tests:
        facts |= {f"{test['test_type']}.probe_version": test["probe_version"]}
        facts |= _list_settings(test, scoring=False)
    return {name: value for name, value in facts.items() if value is not None}


def _list_settings(test: Outcome, *, scoring: bool) -> Facts:
    of_scoring = probe(test["test_type"]).settings_type.of_scoring
    return {
        f"{test['test_type']}.{name}": value
        for name, value in test["settings"].items()
        if (name in of_scoring) is scoring and value is not None
    }


def _to_short_text(value: object) -> str:
    """Return a value as text, short enough to be stored with every run."""
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=str)
    if len(text) <= LONGEST:
        return text
    return f"{text[: LONGEST // 2]}… (sha256 {hashlib.sha256(text.encode(errors='replace')).hexdigest()[:12]})"
