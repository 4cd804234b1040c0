"""Hooks of `make site`: list the decisions, and check links that leave `docs` and addresses of other hosts."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import get_plugin_logger
from mkdocs.structure.pages import Page

LINK = re.compile(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
OUTSIDE = re.compile(r"""<(?:script|img|link|iframe)\b[^>]*?\b(?:src|href)=["']?(https?:[^"'\s>]+)""")
log = get_plugin_logger("contrapose")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """List the decisions in the navigation."""
    decisions = sorted(Path(config.docs_dir, "decisions").glob("*.md"))
    for entry in config.nav or []:
        if isinstance(entry, dict) and "Decisions" in entry:
            entry["Decisions"] = [f"decisions/{path.name}" for path in decisions]
    return config


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, **_: Any) -> str:
    """Show what lies outside `docs` by its path in the repository: the site does not hold it."""
    docs = Path(config.docs_dir).resolve()
    folder = docs.joinpath(page.file.src_uri).parent

    def shown(match: re.Match[str]) -> str:
        text, target = match.groups()
        address = urlsplit(target)
        if address.scheme or not address.path:
            return match[0]
        path = (folder / address.path).resolve()
        if path.is_relative_to(docs):
            return match[0]
        if not path.exists():
            log.warning("%s links to %s, which is not there", page.file.src_uri, target)
        place = path.relative_to(docs.parent).as_posix() if path.is_relative_to(docs.parent) else target
        return f"`{place}`" if text.strip("`") == place else f"{text} (`{place}`)"

    return LINK.sub(shown, markdown)


def on_post_page(output: str, *, page: Page, **_: Any) -> str:
    """Warn of what a browser would load from another host."""
    for address in OUTSIDE.findall(output):
        log.warning("%s loads %s", page.file.src_uri, address)
    return output
