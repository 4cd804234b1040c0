"""Read results of promptfoo: JSON, JSON lines, YAML, or its CSV table."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import yaml

from contrapose.tasks.core import bounds
from contrapose.tasks.infer.formats.base import Format, Row, Selection, make_completion, make_failed

NAME = "results of promptfoo"
OUTPUT = re.compile(r"\[[^\]]+\] (?P<template>.*)", re.DOTALL)
"""Header of a column with replies in a CSV: the provider and the template of the prompt."""
VARIABLE = re.compile(r"\{\{\s*(\w+)\s*\}\}")
CALLED_ERROR = 2
"""The reason of a failure that is no failed assertion: the call failed."""


def recognizes(record: Row) -> bool:
    """Return whether a record is a promptfoo document, a line of results, or a cell of its table."""
    results = record.get("results")
    is_document = isinstance(results, Mapping) and isinstance(results.get("results"), list)
    prompt = record.get("prompt")
    return is_document or (isinstance(prompt, Mapping) and "raw" in prompt and "vars" in record)


def read(record: Row) -> Iterator[Row]:
    """Yield the rows of a document or of one line."""
    results = record.get("results")
    for result in results["results"] if isinstance(results, Mapping) else [record]:
        provider = result.get("provider")
        name = provider.get("label") or provider.get("id") if isinstance(provider, Mapping) else provider
        yield {"prompt": _parse_prompt(result["prompt"]["raw"]), "reply": _read_result(result), "provider": name}


def _parse_prompt(raw: str) -> Any:
    """Return a prompt as text or messages; promptfoo also takes messages as YAML."""
    if not raw.lstrip().startswith("- role:"):
        return raw
    try:
        return bounds.parse_yaml(raw)
    except yaml.YAMLError:
        return raw


def _read_result(result: Row) -> Any:
    response = result.get("response") or {}
    output, finish = response.get("output"), response.get("finishReason")
    if response.get("error") or output is None or result.get("failureReason") == CALLED_ERROR:
        return make_failed(response.get("error") or result.get("error") or "no reply was recorded")
    if isinstance(output, list) and finish and "tool" in str(finish):
        return make_completion({"content": None, "tool_calls": output}, finish)
    if response.get("isRefusal") and finish in (None, "stop"):
        finish = "refusal"
    return make_completion(output, finish) if isinstance(output, str) else output


def is_table(path: Path) -> bool:
    """Return whether a file is promptfoo's table: a status column follows each column with replies."""
    with suppress(csv.Error), path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        header = next(csv.reader(file), [])
        return any(OUTPUT.match(name) and after == "Status" for name, after in pairwise(header))
    return False


def read_table(path: Path, selection: Selection) -> Iterator[Row]:
    """Yield a result for each cell of the table; the variables of a row fill the prompt template."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = csv.reader(file)
        header = next(rows)
        outputs = [(place, match) for place, name in enumerate(header) if (match := OUTPUT.match(name))]
        for cells in rows:
            variables = dict(zip(header[: outputs[0][0]], cells, strict=False))
            for place, match in outputs:
                prompt = _fill_template(match["template"], variables, selection)
                is_error = cells[place + 1] == "ERROR"
                reply = {"error": "promptfoo noted an error"} if is_error else {"output": cells[place]}
                provider = header[place][1:].partition("]")[0]
                yield {"prompt": {"raw": prompt}, "vars": variables, "response": reply, "provider": provider}


def _fill_template(template: str, variables: Mapping[str, str], selection: Selection) -> str:
    """Return a template with its variables filled in, or raise an error if it has more than plain variables."""
    rest = VARIABLE.sub("", template)
    if "{{" in rest or "{%" in rest:
        raise selection.make_error(
            f"a template that only promptfoo can fill: {template[:80]!r}",
            expected="{{variables}} alone in a CSV",
            remedy="Write the results with `promptfoo eval -o results.json`.",
        )
    return VARIABLE.sub(lambda match: variables.get(match[1], match[0]), template)


FORMAT = Format(NAME, recognizes, lambda selection: read)
