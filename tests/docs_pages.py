"""The pages of the documentation, and the blocks of code in them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from places import REPOSITORY

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
DOCS = REPOSITORY / "docs"
EXAMPLES = REPOSITORY / "examples"


@dataclass(frozen=True)
class Block:
    """Code between two fences."""

    page: str
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}: {self.text[:60]!r}"


@cache
def pages() -> tuple[Path, ...]:
    """Every page that people read, README first; decisions tell what was, and are left out."""
    found = [path for path in sorted(DOCS.rglob("*.md")) if "decisions" not in path.parts]
    guides = sorted((REPOSITORY / "deployments").glob("*/README.md"))
    examples = [EXAMPLES / "README.md", *sorted(EXAMPLES.glob("*/README.md"))]
    own = [REPOSITORY / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "data/README.md")]
    return (*own, *found, *guides, *examples)


def blocks(*languages: str) -> list[Block]:
    """The blocks of all pages in some languages."""
    return [
        Block(str(path.relative_to(REPOSITORY)), match[1], match[2])
        for path in pages()
        for match in BLOCK.finditer(path.read_text("utf-8"))
        if match[1] in languages
    ]


def commands(block: Block) -> Iterator[list[str]]:
    """The arguments of each line that calls contrapose; in a console block lines without a prompt are output."""
    for line in block.text.replace("\\\n", " ").splitlines():
        if block.language == "console" and not line.startswith("$ "):
            continue
        words = shlex.split(line.removeprefix("$ "), comments=True)
        while words and re.match(r"\w+=", words[0]):
            words.pop(0)
        if words and words[0] == "contrapose":
            end = next((place for place, word in enumerate(words) if word in (">", "|", "||", "&&")), len(words))
            yield words[1:end]
