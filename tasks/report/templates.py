"""Load the templates, styles and scripts of self-contained pages, with hashes for the content security policy."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from jinja2 import Environment, FunctionLoader, StrictUndefined, Template
from markupsafe import Markup

from contrapose.tasks.text import cleaning, wording


def read_packaged_text(package: str, name: str) -> str:
    """Read a file of a package as text."""
    return files(package).joinpath(name).read_text(encoding="utf-8")


SHARED = "contrapose.tasks.report.html"
"""The package of the report's page, whose style sheet and macros other pages use too."""

PAGE = "page.html.j2"
"""The template of a package's page."""


@cache
def load_template(package: str, name: str) -> Template:
    """Return a package's template, which may include its other templates and the shared ones.

    Values are escaped, for Markdown in a template of that, and none may be missing.
    """

    def load(wanted: str) -> str:
        return read_packaged_text(package if files(package).joinpath(wanted).is_file() else SHARED, wanted)

    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=FunctionLoader(load),
        finalize=_escape_markdown if name.endswith(".md.j2") else None,
        keep_trailing_newline=name.endswith(".md.j2"),
    )
    environment.filters |= {"percent": wording.percent, "thousands": "{:,}".format}
    return environment.get_template(name)


def _escape_markdown(value: object) -> Markup:
    """Escape a value for Markdown, unless it is already escaped."""
    return value if isinstance(value, Markup) else Markup(cleaning.escape(str(value)))  # noqa: S704 (just escaped)


@cache
def read_style(package: str | None = None, name: str = "") -> str:
    """Return the report's style sheet, followed by another package's if one is named."""
    return read_packaged_text(SHARED, "style.css") + (read_packaged_text(package, name) if package else "")


def hash_source(text: str) -> str:
    """Return the hash that allows a style or a script in a content security policy."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def inline_files(style: str, *scripts: str) -> Mapping[str, Markup | str]:
    """Return the style and scripts of a page, with their hashes."""
    script = "\n".join(['"use strict";', *scripts])
    return {
        "style": Markup(style),  # noqa: S704
        "script": Markup(script),  # noqa: S704
        "style_hash": hash_source(style),
        "script_hash": hash_source(script),
    }
