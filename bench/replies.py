"""How well replies are read, against hand-made labels: `python -m bench.replies [--show]`.

For each set and split: the share read as labelled, the replies given an option that they do not choose (false), those
among them that choose none at all (invented), and the choices that were not read (missed), then the same by kind where
anything went wrong; of the forms, the share of unmistakable answers that are read. `--show` prints what went wrong in
the tune split; nothing is ever printed of the other one.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from contrapose.tasks.language.replies.options import choose
from contrapose.tasks.probes.base import letters
from contrapose.tasks.probes.orders.letter_replies import read_words

GOLDEN = Path(__file__).parent.parent / "tests" / "golden"
SETS = (
    *("replies", "replies_2", "replies_3", "replies_explained"),
    *("replies_options", "replies_options_2", "replies_options_3", "replies_forms"),
)
SUMMARIES = (
    "The council approved the new library budget on Monday.",
    "The council rejected the new library budget on Monday.",
)
"""What stood under A and B in the sets of summaries."""


def main() -> None:
    """Print a line for each set and split, then one for each kind with an error."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--show", action="store_true", help="print the errors of the tune split")
    shown = parser.parse_args().show
    for name in SETS:
        rows = [json.loads(line) for line in (GOLDEN / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]
        for split in sorted({row["split"] for row in rows}, reverse=True):
            chosen = [each for row in rows if row["split"] == split for each in filled(row)]
            measure(f"{name} {split}", chosen, shown and split == "tune")


def filled(row: dict[str, Any]) -> list[dict[str, Any]]:
    """A row as it is, or a template with each letter as the one that it chooses."""
    if "template" not in row:
        return [row]
    return [
        {**row, "reply": row["template"].format(x=x, y=y), "choice": x if row["choice"] else None}
        for x, y in (("A", "B"), ("B", "A"))
    ]


def measure(title: str, rows: list[dict[str, Any]], shown: bool) -> None:
    """Read every reply of a split and print how it went."""
    errors = [(row, letter, error(row["choice"], letter)) for row in rows if (letter := read(row)) != row["choice"]]
    counted = Counter(kind for _, _, kind in errors)
    false = counted["false"] + counted["invented"]
    right = 1 - len(errors) / len(rows)
    print(f"{title}: {len(rows)} replies, {right:.1%} right, {false} false ({counted['invented']} invented),", end=" ")
    print(f"{counted['missed']} missed")
    if sure := sum(row.get("sure", False) for row in rows):
        unread = sum(row.get("sure", False) for row, _, what in errors if what == "missed")
        print(f"    of {sure} unmistakable answers {1 - unread / sure:.1%} are read")
    for (kind, what), count in sorted(Counter((row["kind"], what) for row, _, what in errors).items()):
        print(f"    {kind}: {count} {what}")
    for row, letter, what in errors if shown else ():
        print(f"        {what}: {row['reply']!r} is {row['choice']}, read as {letter}")


def error(label: str | None, letter: str | None) -> str:
    """What is wrong with reading a reply that is labelled so as this letter."""
    if letter is None:
        return "missed"
    return "invented" if label is None else "false"


def read(row: Mapping[str, Any]) -> str | None:
    """The letter that a row's reply is read as."""
    if options := row.get("options"):
        index = choose(row["reply"], labels=letters(len(options)), options=options).index
        return None if index is None else letters(len(options))[index]
    if row.get("judge"):
        return read_words(row["reply"], one_is_right=False).choice
    first, second = row.get("summaries", SUMMARIES)
    return read_words(row["reply"], option_a=first, option_b=second).choice


if __name__ == "__main__":
    main()
