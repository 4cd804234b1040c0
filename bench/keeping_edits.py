"""Edits that should keep an answer, to be judged by eye: `python -m bench.keeping_edits TEST FILE… [--seed 0]`.

Each FILE is JSON Lines or JSON; its text stands under one of `KEYS`. Texts are drawn with the seed, and each changed
one is printed with what was put in the place of what. The last lines say why the others were skipped. Rows whose text
hashes to an even number are left for tuning: only the others are printed, unless `--tuning` asks for the even ones.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from contrapose.tasks.core.records import TextSample
from contrapose.tasks.core.registry import probe
from contrapose.tasks.probes.base import make_sample_rng
from contrapose.tasks.text.inline import format_inline

KEYS = ("question", "text", "article_sent", "article_sentence", "input", "instruction", "sentence", "output_1")


def main() -> None:
    """Print edits of one test, and the reasons for those that were skipped."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("test")
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--tuning", action="store_true")
    given = parser.parse_args()
    reasons: Counter[str] = Counter()
    shown = 0
    for text in draw_texts(given.files, seed=given.seed, tuning=given.tuning):
        before, after, reason = change_text(given.test, text)
        reasons[reason] += 1
        if after is not None and shown < given.count:
            shown += 1
            print(f"{shown}. {format_inline(before, after, brackets=True)}")
    print(dict(reasons.most_common()))


def draw_texts(files: list[Path], *, seed: int, tuning: bool) -> list[str]:
    """Return the different texts of some files in a drawn order: those for tuning, or the others."""
    texts = dict.fromkeys(text for path in files for text in read_texts(path) if is_for_tuning(text) == tuning)
    return random.Random(seed).sample(list(texts), len(texts))


def read_texts(path: Path) -> Iterator[str]:
    """Yield the text of every row of a file."""
    content = path.read_text(encoding="utf-8")
    rows: list[dict[str, Any]] = (
        json.loads(content) if path.suffix == ".json" else [json.loads(line) for line in content.splitlines()]
    )
    for row in rows:
        yield next(row[key] for key in KEYS if row.get(key))


def is_for_tuning(text: str) -> bool:
    """Return whether rules may be fitted to a text: half of all texts."""
    return hashlib.sha256(text.encode()).digest()[0] % 2 == 0


def change_text(test: str, text: str) -> tuple[str, str | None, str]:
    """Return a text, its changed form and the reason why there is none, or `changed`."""
    chosen: Any = probe(test)
    edited = chosen.change(TextSample(id="1", text=text), chosen.settings_type(), rng=make_sample_rng(0, text, test))
    return text, edited.text, edited.reason or "changed"


if __name__ == "__main__":
    main()
