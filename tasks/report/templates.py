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


@cache
def template(package: str, name: str) -> Template:
    """A template of a package, which may include others of it; values are escaped, and none may be missing."""
    loader = FunctionLoader(partial(read, package))
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, loader=loader
    )
    return environment.get_template(name)


@cache
def style(package: str | None = None, name: str = "") -> str:
    """The report's style sheet, and behind it one of another package where that is named."""
    return read("contrapose.tasks.report.html", "style.css") + (read(package, name) if package else "")


def source_hash(text: str) -> str:
    """How a content security policy names a style or a script that stands in the page."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
