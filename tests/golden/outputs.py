"""What every golden text is made into, and every golden reply read as, as digests beside the versions of the probes.

`python -m tests.golden.outputs` writes them down.

The figures that golden sets hold to leave room for a text that is changed otherwise than before. Here each one counts:
whoever means such a change raises the version of the probe, since answers to the old prompt no longer belong to it, and
writes this file anew.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from contrapose.tasks.core.records import TextSample
from contrapose.tasks.core.registry import probe
from contrapose.tasks.language.replies.options import choose
from contrapose.tasks.probes.base import make_sample_rng
from contrapose.tasks.probes.order_bias import read_choice
from contrapose.tasks.probes.toxic_words import count_toxic

FOLDER = Path(__file__).parent
RECORDED = FOLDER / "outputs.tsv"
STATEMENTS = ("negation/tuned", "negation/scored_only")
STEMS = ("negation_options/tuned", "negation_options/scored_only")
EDITED = ("edits/antonym", "edits/change_number", "edits/swap_roles")
TOXIC = ("toxic/tuned", "toxic/scored_only", "toxic/disguises")
SAMPLES = ("samples/negation", "samples/toxic_words")
SUMMARIES = ("replies_explained", "replies", "replies_2", "replies_3")
LETTERED = ("replies_options_2", "replies_options_3", "replies_options")
STIRRED, SOME_STIRRED, TOGETHER = 5000, 300, 50
"""Texts with some of their words left out, doubled or put in elsewhere: of each of a way's first two sets, the first
ones of these, and how many of them share a digest."""
KNOWN = (
    "a an the this that those each every both all any some no none not never hardly neither nor either only few many "
    "most more less he her it they them who which what whose there here is are was were be been am do does did have "
    "has had can cannot may might must should will would isn't don't won't let's please and or but if because while "
    "than as of in on at by to from with without for about also still always often very too quite up out down off "
    "Is Are Do Does Did Can Has Which What Who How Why When Not No Never Neither Each There If Because "
    'one two 8 11 18 50% 1,000 1990 first last true false: Statement 2 | ____ : ; , ? . " ( ) - true older better'
)
"""Words and marks that rules know: half of what is put in."""

Way = Callable[[Mapping[str, Any]], object]


def made(row: Mapping[str, Any], *, test: str, **settings: Any) -> object:
    """The case of a text, and its control: what is asked, or why nothing is."""
    chosen = probe(test)
    sample = TextSample(id=row["id"], text=row["text"], options=tuple(row.get("options") or ()))
    given = chosen.settings_type.model_validate(settings)
    (case,) = chosen.cases(sample, given, rng=make_sample_rng(0, sample.id, test), likelihoods="all")
    twin = None if case.skip_reason else chosen.control(case, sample, given, rng=make_sample_rng(1, sample.id, test))
    return [case.original, case.perturbed, case.skip_reason, case.confidence, twin and twin.perturbed]


def counted(row: Mapping[str, Any]) -> object:
    """The toxic words of a text."""
    found = count_toxic(row["text"])
    return [found.total, sorted(found.by_tier.items()), [str(each) for each in found.matches]]


def chosen(row: Mapping[str, Any]) -> object:
    """The summary that a reply chooses."""
    found = read_choice(row["text"])
    return [found.choice, found.step, found.reason]


def option(row: Mapping[str, Any]) -> object:
    """The option that a reply chooses."""
    found = choose(row["text"], labels="ABCDEFGH"[: len(row["options"])], options=row["options"])
    return [found.index, found.step, found.reason]


WAYS: Mapping[str, tuple[str, tuple[str, ...], Way]] = {
    "add_negation": (
        "add_negation",
        (STATEMENTS[0], *STEMS, STATEMENTS[1], SAMPLES[0]),
        partial(made, test="add_negation"),
    ),
    "negation removed": (
        "add_negation",
        STATEMENTS,
        partial(made, test="add_negation", existing_negation="remove"),
    ),
    "low negation": ("add_negation", STATEMENTS, partial(made, test="add_negation", rewrite_polar=False)),
    "as langtest": ("add_negation", STATEMENTS[:1], partial(made, test="add_negation", style="langtest")),
    **{
        name: (
            name,
            (*(each for each in EDITED if each.endswith(name)), *EDITED, *STATEMENTS),
            partial(made, test=name),
        )
        for name in ("antonym", "change_number", "swap_roles", "typo", "casing", "spacing")
    },
    "add_toxic_words": ("add_toxic_words", SAMPLES[1:], partial(made, test="add_toxic_words")),
    "toxic words counted": ("add_toxic_words", TOXIC, counted),
    "summary chosen": ("order_bias", SUMMARIES, chosen),
    "option chosen": ("option_order", LETTERED, option),
}
"""By name: the probe, the sets that it is tried on, and what is recorded of a text."""


def rows(part: str) -> list[dict[str, Any]]:
    """The texts of a golden set, or of bundled samples."""
    folder = FOLDER.parent.parent / "data" if part in SAMPLES else FOLDER
    lines = (folder / f"{part}.jsonl").read_text(encoding="utf-8").splitlines()
    found = [{"id": str(number), **json.loads(line)} for number, line in enumerate(lines)]
    return [{"text": row.get("reply") or row.get("template", "").format(x="A", y="B"), **row} for row in found]


def stirred(part: str, count: int) -> list[dict[str, Any]]:
    """Texts that nobody would write, of the words that the texts of a set have: rules meet what they seldom meet."""
    rng, known = random.Random(16), KNOWN.split()
    given = rows(part)
    pieces = [word for row in given for word in row["text"].split(" ")]
    found = []
    for number in range(count):
        row = rng.choice(given)
        words = row["text"].split(" ")
        for _ in range(rng.randint(1, 3)):
            at = rng.randint(0, len(words))
            new = rng.choice(
                [[rng.choice(pieces)], [rng.choice(known)], [rng.choice(known)], [], words[at : at + 1] * 2]
            )
            words[at : at + rng.randint(0, 1)] = new
        found.append({**row, "id": str(number), "text": " ".join(words)})
    return found


def outputs(name: str, *, count: int = STIRRED) -> Iterator[tuple[str, object]]:
    """The place of every text, and what it is made into; of replies and of stirred texts, of several at once.

    Args:
        name: of the way.
        count: stirred texts of a set.
    """
    _, parts, way = WAYS[name]
    several = [(f"{part}/stirred", stirred(part, count)) for part in parts[:2]]
    for part in parts:
        if part in (*SUMMARIES, *LETTERED):
            several.append((part, rows(part)))
            continue
        for row in rows(part):
            yield f"{part}/{row['id']}", way(row)
    for place, texts in several:
        for first in range(0, len(texts), TOGETHER):
            yield f"{place}/{first}", [way(row) for row in texts[first : first + TOGETHER]]


def digest(output: object) -> str:
    """Eight digits, which another output hardly shares."""
    return hashlib.sha256(json.dumps(output, ensure_ascii=False).encode()).hexdigest()[:8]


def recorded() -> dict[str, dict[str, str]]:
    """By way: `version` of its probe, and the digest of every text by its place."""
    names, *lines = (line.split("\t") for line in RECORDED.read_text(encoding="utf-8").splitlines())
    return {
        name: {line[0]: line[column] for line in lines if line[column]}
        for column, name in enumerate(names[1:], start=1)
    }


def main() -> None:
    """Write down what there is: a line for each text, a column for each way."""
    table = {name: {place: digest(output) for place, output in outputs(name)} for name in WAYS}
    versions = [probe(test).version for test, _, _ in WAYS.values()]
    places = dict.fromkeys(place for column in table.values() for place in column)
    lines = [["text", *WAYS], ["version", *versions]]
    lines += [[place, *(column.get(place, "") for column in table.values())] for place in places]
    RECORDED.write_text("".join("\t".join(line) + "\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    main()
