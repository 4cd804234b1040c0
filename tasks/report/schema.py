"""The JSON Schema of summary.json, made from the types that it is written from.

`python -m contrapose.tasks.report.schema` renews `data/schemas/summary.schema.json`.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

from contrapose.tasks.core.outcome import SCHEMA_VERSION, Summary
from contrapose.tasks.report.summary import to_json


class SchemaWithoutTitles(GenerateJsonSchema):
    """Generator of JSON Schema without titles, because these only repeat names."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        """Never."""
        return False


def make_schema() -> dict[str, Any]:
    """Return the schema (draft 2020-12). A file may have more than it names, but no other `schema_version`."""
    # Only through a list are fields of dictionaries described by what is written beneath them.
    adapter = TypeAdapter(list[Summary], config=ConfigDict(use_attribute_docstrings=True))
    parts = adapter.json_schema(schema_generator=SchemaWithoutTitles)["$defs"]
    whole = parts.pop("Summary")
    whole["properties"]["schema_version"] |= {"const": SCHEMA_VERSION}
    return {
        "$schema": GenerateJsonSchema.schema_dialect,
        "$id": f"urn:contrapose:summary:{SCHEMA_VERSION}",
        **whole,
        "title": f"summary.json of a Contrapose run, version {SCHEMA_VERSION}",
        "$defs": parts,
    }


def encode_schema() -> bytes:
    """Return the schema as the bytes of its published file."""
    return f"{to_json(make_schema())}\n".encode()


def locate_schema() -> Path:
    """Return the path of the published schema, in a checkout or in a wheel."""
    return Path(str(files("contrapose.data"))) / "schemas" / "summary.schema.json"


if __name__ == "__main__":
    locate_schema().write_bytes(encode_schema())
