"""How the time of every function that reads text from outside grows with the text: `python -m bench.linearity`.

Each function reads each fragment of `bench.outside_text`, repeated to a length and to twice that length, alone and
between words, and the longer text must take at most `MOST` times as long: twice is linear, four times is quadratic.
What takes less than `SOON` may grow as it likes. `--picture FILE` draws the time of each function with the fragment
that takes it longest.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.outside_text import FRAGMENTS, READERS
from bench.processor_time import spent

LENGTH = 2_000
"""Characters of the shorter text; the longer one is one that a reader of replies still reads whole."""
MOST = 3.0
"""Times that a text of twice the length may take."""
FRAMES = (("", ""), ("The answer is not it", "but B. So there"))
"""What stands before and behind the fragments: alone, a run of blanks is no text at all."""
SOON = 0.01
"""Seconds of processor time that a text of twice the length may always take."""
TRIES = 4
"""Measurements of what looks too slow, of which the fastest counts: a busy machine makes one slow, never fast."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """What a function took for a text, and for one twice as long."""

    reader: str
    fragment: str
    short: float
    """Seconds of processor time."""
    long: float
    """The same for the text of twice the length."""

    @property
    def times(self) -> float:
        """How often the shorter text's time the longer one takes."""
        return self.long / max(self.short, 1e-9)

    @property
    def is_steep(self) -> bool:
        """Whether it grows faster than a text may make it."""
        return self.long > SOON and self.times > MOST


def repeated(fragment: str, length: int) -> str:
    """The fragment, as often as it takes; a part of one at the end would be another text, which is read otherwise."""
    return fragment * max(length // len(fragment), 1)


def seconds(reader: str, text: str) -> float:
    """Processor time that a function takes for a text."""
    return spent(READERS[reader](text)).seconds


def growths(reader: str, *, length: int = LENGTH) -> Iterator[Growth]:
    """How a function's time grows, with every fragment in every frame."""
    # The first call reads lexicons and imports what it needs.
    seconds(reader, "It is so.")
    for fragment in FRAGMENTS:
        yield from (growth(reader, fragment, frame, length=length) for frame in FRAMES)


def growth(reader: str, fragment: str, frame: tuple[str, str], *, length: int = LENGTH) -> Growth:
    """How a function's time grows with a fragment; measured again where it looks steep."""
    before, behind = frame
    best = _growth(reader, fragment, (before, behind), length)
    for number in range(1, TRIES):
        if not best.is_steep:
            break
        # Another text each time: what is read is remembered here and there.
        again = _growth(reader, fragment, (before, f"{behind} {number}"), length)
        best = min(best, again, key=lambda each: each.times)
    return best


def _growth(reader: str, fragment: str, frame: tuple[str, str], length: int) -> Growth:
    texts = (f"{frame[0]}{repeated(fragment, size)}{frame[1]}" for size in (length, 2 * length))
    short, long = (seconds(reader, text) for text in texts)
    return Growth(reader=reader, fragment=fragment, short=short, long=long)


def slowest(found: Iterable[Growth]) -> list[Growth]:
    """The fragment of each function that takes longest, the slowest function first."""
    longest: dict[str, Growth] = {}
    for each in found:
        if each.reader not in longest or each.long > longest[each.reader].long:
            longest[each.reader] = each
    return sorted(longest.values(), key=lambda each: -each.long)


def main() -> None:
    """Print a line for each function, and what is steep."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--length", type=int, default=LENGTH)
    parser.add_argument("--picture", type=Path, help="an .svg file to draw")
    given = parser.parse_args()
    found = [each for name in READERS for each in growths(name, length=given.length)]
    print(f"{len(READERS)} functions, {len(FRAGMENTS)} fragments, {given.length:,} and {2 * given.length:,} characters")
    for each in slowest(found):
        print(f"{each.reader:36} {1000 * each.long:8.2f} ms {each.times:6.1f} times  {each.fragment!a}")
    for each in (each for each in found if each.is_steep):
        print(f"STEEP {each.reader}: {each.fragment!a} {each.short:.4f} s, {each.long:.4f} s")
    if given.picture:
        draw(slowest(found), given.picture)


def draw(found: list[Growth], path: Path) -> None:
    """Write a picture: a line for each function from the shorter text's time to the longer one's."""
    import altair as alt
    import pandas as pd

    rows = [
        {"function": each.reader, "characters": size, "milliseconds": 1000 * max(value, 1e-6)}
        for each in found
        for size, value in ((LENGTH, each.short), (2 * LENGTH, each.long))
    ]
    base = alt.Chart(pd.DataFrame(rows)).encode(
        x=alt.X("milliseconds", scale=alt.Scale(type="log"), title="milliseconds of processor time, slowest fragment"),
        y=alt.Y("function", sort=[each.reader for each in found], title=None),
    )
    points = base.mark_point(filled=True).encode(color=alt.Color("characters:O"))
    (base.mark_line(color="lightgray").encode(detail="function") + points).properties(width=480).save(path)


if __name__ == "__main__":
    main()
