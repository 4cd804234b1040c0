"""Pages that need no other file: their templates, the style that all share, and how a policy names what they hold."""

from __future__ import annotations

import base64
import hashlib
from functools import cache, partial
from importlib.resources import files

from jinja2 import Environment, FunctionLoader, StrictUndefined, Template


def read(package: str, name: str) -> str:
    """A file of a package, as text."""
    return files(package).joinpath(name).read_text(encoding="utf-8")


SHARED = "contrapose.tasks.report.html"
"""The package of the report's page, whose style sheet and macros other pages use too."""

PAGE = "page.html.j2"
"""The template of a package's page."""


@cache
def template(package: str, name: str) -> Template:
    """A template of a package, which may use others of it and the shared ones.

    Values are escaped, and none may be missing.
    """
    loader = FunctionLoader(partial(_read_own_or_shared, package))
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, loader=loader
    )
    return environment.get_template(name)


@cache
def compile_page(package: str) -> None:
    """Compile the page of a package, and its templates that it includes, before it is rendered: it takes a while."""
    environment = template(package, PAGE).environment
    for file in files(package).iterdir():
        if file.name.endswith(".j2"):
            environment.get_template(file.name)


@cache
def style(package: str | None = None, name: str = "") -> str:
    """The report's style sheet, and behind it one of another package where that is named."""
    return read(SHARED, "style.css") + (read(package, name) if package else "")


def _read_own_or_shared(package: str, name: str) -> str:
    return read(package if files(package).joinpath(name).is_file() else SHARED, name)


def source_hash(text: str) -> str:
    """How a content security policy names a style or a script that stands in the page."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
