"""How many of HateCheck's bad words are counted: `python -m bench.toxic_recall PATH [--show]`.

PATH is a copy of HateCheck's `test_suite_cases.csv`, or the folder that holds it (Röttger et al., "HateCheck:
Functional Tests for Hate Speech Detection Models", ACL 2021; CC BY 4.0; repository paul-rottger/hatecheck-data).
Nothing of it is part of this project.

HateCheck asks for hate; we count words. So recall is over the texts whose tested expression is a slur or strong
profanity, as the data set's own column of expressions says, disguised or not; the others are threats and contempt in
ordinary words. Errors are counted in the texts that hold none of these expressions. Texts whose expression our lexicon
rates mild ("scumbag") stand in neither. `--show` prints the texts that were missed, masked nowhere.
"""

from __future__ import annotations

import argparse
import csv
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

from contrapose.tasks.probes.toxic_words import count_toxic

SLUR = "[SLUR_S]"
"""What the data set writes for a slur that its templates filled in."""
PLAIN = ("profanity_h", "profanity_nh")
"""Where the tested expressions are profanity."""
WORDS = ("slur_h", "slur_reclaimed_nh", *PLAIN)
"""Where every text holds a slur or profanity, undisguised."""
HOMONYMS = "slur_homonym_nh"
"""Words that are slurs elsewhere, and harmless here."""
MILD = ("piss", "scumbag")
"""How the profanities begin that our lexicon rates mild."""

Row = Mapping[str, str]


def main() -> None:
    """Print recall by functionality, and then what was counted in texts without a bad word."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path)
    parser.add_argument("--show", action="store_true", help="print the texts that were missed or wrongly counted")
    given = parser.parse_args()
    groups = by_functionality(read(given.path))
    bad = expressions(row for name in PLAIN for row in groups[name])
    print("functionality: texts with a slur or strong profanity, counted, recall")
    tell_recall({name: [row for row in rows if holds(row, bad)] for name, rows in groups.items()}, shown=given.show)
    print("functionality: texts without one, counted all the same")
    tell_errors({name: [row for row in rows if harmless(row, bad)] for name, rows in groups.items()}, shown=given.show)


def read(path: Path) -> list[Row]:
    """The rows of the data set."""
    file = path / "test_suite_cases.csv" if path.is_dir() else path
    with file.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def by_functionality(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Rows by what they test, in the order of the file."""
    groups = defaultdict[str, list[Row]](list)
    for row in rows:
        groups[row["functionality"]].append(row)
    return groups


def expressions(rows: Iterable[Row]) -> frozenset[str]:
    """The strong expressions that the texts about profanity test."""
    return frozenset(row["focus_lemma"] for row in rows if not row["focus_lemma"].startswith(MILD))


def holds(row: Row, bad: frozenset[str]) -> bool:
    """Whether the tested expression is a slur or strong profanity; a homonym is neither."""
    name, lemma = row["functionality"], row["focus_lemma"]
    spelled = name in PLAIN or name.startswith("spell_")
    return lemma == SLUR or name == "slur_reclaimed_nh" or (spelled and lemma in bad)


def harmless(row: Row, bad: frozenset[str]) -> bool:
    """Whether a text holds no bad word, or a homonym alone: neither by its tested expression nor by its looks."""
    if row["functionality"] == HOMONYMS:
        return True
    if holds(row, bad) or row["functionality"] in WORDS:
        return False
    text = row["test_case"].lower()
    return not any(word in text for expression in bad for word in expression.split() if len(word) > 3)


def tell_recall(groups: Mapping[str, list[Row]], *, shown: bool) -> None:
    """A line for each functionality with such texts, and one for all."""
    found = total = 0
    for name, rows in groups.items():
        missed = [row["test_case"] for row in rows if not count_toxic(row["test_case"]).total]
        found, total = found + len(rows) - len(missed), total + len(rows)
        if rows:
            print(f"    {name}: {len(rows)}, {len(rows) - len(missed)}, {1 - len(missed) / len(rows):.1%}")
        for text in missed if shown else ():
            print(f"        missed: {text}")
    print(f"    all: {total}, {found}, {found / total:.1%}")


def tell_errors(groups: Mapping[str, list[Row]], *, shown: bool) -> None:
    """A line for the homonyms, one for all others, and one for each text of the others that was counted."""
    rest = [row for name, rows in groups.items() if name != HOMONYMS for row in rows]
    for name, rows in ((HOMONYMS, groups.get(HOMONYMS, [])), ("all others", rest)):
        counted = [row["test_case"] for row in rows if count_toxic(row["test_case"]).total]
        print(f"    {name}: {len(rows)}, {len(counted)}")
        for text in counted if shown else ():
            print(f"        counted: {text}")


if __name__ == "__main__":
    main()
