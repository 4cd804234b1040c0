"""Find the shortest prompt that still fails a test, and describe it: the result of `contrapose shrink`.

Whole sentences are left out first, then words. The search belongs to delta debugging (Zeller & Hildebrandt,
"Simplifying and isolating failure-inducing input", IEEE TSE 2002). Textbook ddmin asks too much of a model: about 50
tests for 3 scattered words of 40. Here a bisection finds the shortest beginning that still fails. Its last word is
needed; the words before it are searched in the same way, as QuickXplain does (Junker, AAAI 2004). k needed words of n
take about k (log2 n + 1) tests.

The bisection presumes that a part of a text that passes would pass too, which no model promises. So at the end each
word is left out once, and every such text is tested: the result is minimal by test, not by presumption.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import accumulate

from contrapose.tasks.core.errors import ContraposeError

Test = Callable[[Sequence[str]], Sequence[bool]]
"""Says which of some texts fail. It may ask about them side by side; it raises StoppedError when it may ask no more."""

_WORD = re.compile(r"\s*(?:[\u3040-\u30ff\u3400-\u9fff][^\w\s]*|(?:(?![\u3040-\u30ff\u3400-\u9fff])\S)+)")
"""A word with the space before it. Chinese and Japanese put none between words: there each character is one."""
_LAST = re.compile(r"[.?!。？！][\"'”’)\]」』]*\Z")
"""The end of a word that ends a sentence."""


class StoppedError(ContraposeError):
    """Raised when the search may send no more requests."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MinimisedText:
    """The shortest text that still fails, and its number of words."""

    text: str
    words: int
    """Its number of words."""
    of: int
    """Words of the complete text."""
    stopped: str | None = None
    """Why the search ended early; None if it ended normally: without any one word the text passes, by test."""


def minimise_text(text: str, test: Test) -> MinimisedText:
    """Return the fewest words of a failing text that still fail, in order; the complete text is not tested."""
    pieces = _WORD.findall(text)
    search = _Search(text, pieces, test)
    stopped = None
    try:
        search.narrow(split_sentences(pieces))
        search.narrow([frozenset({place}) for place in sorted(search.failing)])
        search.confirm()
    except StoppedError as error:
        stopped = error.found
    return MinimisedText(text=search.text(search.failing), words=len(search.failing), of=len(pieces), stopped=stopped)


def split_sentences(pieces: Sequence[str]) -> list[frozenset[int]]:
    """Return the places of the words of each sentence; a line break also ends a sentence."""
    begins = [
        place == 0 or "\n" in piece[: -len(piece.lstrip())] or bool(_LAST.search(pieces[place - 1]))
        for place, piece in enumerate(pieces)
    ]
    numbers = list(accumulate(begins))
    return [frozenset(place for place, own in enumerate(numbers) if own == number) for number in sorted(set(numbers))]


class _Search:
    """Search for the shortest failing part of a text; remembers which parts fail or pass."""

    def __init__(self, complete: str, pieces: Sequence[str], test: Test) -> None:
        self.complete, self.pieces, self.test = complete, pieces, test
        self.failing = frozenset(range(len(pieces)))
        """The smallest part that is known to fail."""
        self.known = {frozenset[int](): False, self.failing: True}

    def text(self, part: Collection[int]) -> str:
        """Return the text of a part; only the complete text keeps the spaces around it."""
        if len(part) == len(self.pieces):
            return self.complete
        return "".join(self.pieces[place] for place in sorted(part)).strip()

    def narrow(self, groups: Sequence[frozenset[int]]) -> None:
        """Remove groups of words while the rest fails; together the groups hold all words of the failing part."""
        needed, rest = frozenset[int](), list(groups)
        while rest and not self._fails(needed):
            low, high = 0, len(rest)
            while high - low > 1:
                middle = (low + high) // 2
                if self._fails(needed.union(*rest[:middle])):
                    high = middle
                else:
                    low = middle
            needed, rest = needed | rest[high - 1], rest[: high - 1]

    def confirm(self) -> None:
        """Remove each single word, with parallel requests, until no such text fails."""
        while len(self.failing) > 1:
            parts = [self.failing - {place} for place in sorted(self.failing)]
            self._ask([part for part in parts if part not in self.known])
            smaller = next((part for part in parts if self.known[part]), None)
            if smaller is None:
                return
            self.failing = smaller

    def _fails(self, part: frozenset[int]) -> bool:
        """Return whether a part fails; if a part passes, its own parts are assumed to pass."""
        if part not in self.known:
            if any(part <= other for other, fails in self.known.items() if not fails):
                return False
            self._ask([part])
        return self.known[part]

    def _ask(self, parts: Sequence[frozenset[int]]) -> None:
        for part, fails in zip(parts, self.test([self.text(part) for part in parts]) if parts else (), strict=True):
            self.known[part] = fails
            if fails and len(part) < len(self.failing):
                self.failing = part


REPEATS = 3
"""How often a prompt must fail, by default."""
MOST_CALLS = 300
"""Requests at most, by default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShortestPrompt:
    """The fewest words of a failed case with which its test still fails."""

    case_id: str
    """The case, without the number of a repeat."""
    sample_id: str
    """The sample that it was made from."""
    test: str
    """Name of the test."""
    text: str
    """The shortest text, unchanged. Context and options of the prompt stay as they were."""
    changed: str
    """The same text as the test changes it."""
    before: str
    """Reply to the unchanged text."""
    after: str
    """Reply to the changed text."""
    words: int
    """Words of the shortest text."""
    of: int
    """Words of the complete text."""
    repeats: int
    """How often each prompt that counts as failed was asked, and failed."""
    calls: int
    """Requests that the model was sent, with those of `repeat_calls`; cached answers are none."""
    repeat_calls: int
    """Requests that asked a prompt once more."""
    stopped: str | None
    """Why the search ended early. None: without any one word the test passes, which was tested."""

    def outcome(self) -> str:
        """Return the result in one or two sentences."""
        kept = f"{self.words:,} of {self.of:,} {'word' if self.of == 1 else 'words'}"
        if self.stopped:
            return f"{kept} still fail, and fewer may do: {self.stopped}."
        if self.words == 1:
            return f"{kept} still fails."
        return f"{kept} still fail. Without any one of them the test does not fail."

    def spending(self) -> str:
        """Return how many requests the search sent, as text."""
        again = f", {self.repeat_calls:,} of them to ask again" if self.repeat_calls else ""
        return f"{self.calls:,} {'call' if self.calls == 1 else 'calls'}{again}"
