"""validation.json: what was found, for machines."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from contrapose.tasks.report.cleaning import valid
from contrapose.tasks.report.validation.page import Head
from contrapose.tasks.validation import Checked, refused

SCHEMA_VERSION = 1


def as_json(head: Head, checked: Sequence[Checked]) -> bytes:
    """The findings of every table, with the suites that they belong to named once."""
    suites = {_key(finding): finding["suite"] for each in checked for finding in each["findings"]}
    content = {
        "schema_version": SCHEMA_VERSION,
        "run_id": head.run_id,
        "sound": not any(map(refused, checked)),
        "suites": list(suites.values()),
        "tables": [_table(each, list(suites)) for each in checked],
    }
    return (valid(json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)) + "\n").encode()


def _table(checked: Checked, suites: list[tuple[str, str]]) -> dict[str, Any]:
    findings = [{**finding, "suite": suites.index(_key(finding))} for finding in checked["findings"]]
    return {"test": checked["test"], "table": checked["table"], "rows": checked["rows"], "findings": findings}


def _key(finding: Any) -> tuple[str, str]:
    return finding["suite"]["file"], finding["suite"]["sha256"]
