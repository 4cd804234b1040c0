"""The shortest prompt that still fails: what `contrapose shrink` shows, writes and returns."""

from __future__ import annotations

from dataclasses import dataclass

REPEATS = 3
"""How often a prompt must fail, where nobody says otherwise."""
MOST_CALLS = 300
"""Requests where nobody sets a limit."""


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
        """Return what was found, in a sentence or two."""
        kept = f"{self.words:,} of {self.of:,} {'word' if self.of == 1 else 'words'}"
        if self.stopped:
            return f"{kept} still fail, and fewer may do: {self.stopped}."
        if self.words == 1:
            return f"{kept} still fails."
        return f"{kept} still fail. Without any one of them the test does not fail."

    def spending(self) -> str:
        """Return how many requests it took."""
        again = f", {self.repeat_calls:,} of them to ask again" if self.repeat_calls else ""
        return f"{self.calls:,} {'call' if self.calls == 1 else 'calls'}{again}"
