"""How fast texts are negated and bad words counted, and what can be negated: `python -m bench.perturbation [FOLDER]`.

FOLDER holds openbookqa_test.jsonl, openbookqa_tiny.jsonl, wiki_test.jsonl, factual_summary_pairs.jsonl and
anyscale_sentence_pairs.json; without it the bundled samples alone are measured. Speeds are of one core, in processor
time, the median of several rounds after one to warm up. Where the package langtest can be imported, its own functions
run beside ours, in turn. `--sample` prints changed texts, to be judged by eye.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from contrapose.tasks.probes.negation import negate
from contrapose.tasks.probes.toxic_words import count_toxic

BUNDLED = Path(__file__).parent.parent / "data" / "samples"
FILES = (
    ("negation.jsonl", "text"),
    ("toxic_words.jsonl", "text"),
    ("summary_pairs.jsonl", "article_sentence"),
    ("openbookqa_test.jsonl", "question"),
    ("openbookqa_tiny.jsonl", "question"),
    ("wiki_test.jsonl", "text"),
    ("factual_summary_pairs.jsonl", "article_sent"),
    ("anyscale_sentence_pairs.json", "article_sent"),
)
TIMED = ("openbookqa_test.jsonl", "wiki_test.jsonl", "negation.jsonl", "toxic_words.jsonl", "summary_pairs.jsonl")
WORDS = 90
"""Words of a passage in which bad words are counted, about."""
BAD = ("fuck", "shit", "f*ck", "sh1t", "fuuuuck", "bitches", "asshole", "damn", "motherfucker", "p0rn")
"""Words that are strewn over a passage, one after every tenth word, to see how fast ugly text is counted."""
CALLS = 2_000
"""Calls of a round, at least."""


def main() -> None:
    """Print speeds, then coverage, then a sample where one is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=Path("../shared/data"))
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--sample", action="store_true", help="print 40 changed texts of each file")
    given = parser.parse_args()
    texts = {name: found for name, key in FILES if (found := read(given.folder, name, key))}
    speeds(texts, rounds=given.rounds)
    coverage(texts)
    if given.sample:
        sample(texts, count=40)


def read(folder: Path, name: str, key: str) -> list[str]:
    """The different texts of one file, in its order; none where the file is missing."""
    path = next((path for path in (BUNDLED / name, folder / name) if path.is_file()), None)
    if path is None:
        return []
    content = path.read_text(encoding="utf-8")
    rows = json.loads(content) if path.suffix == ".json" else map(json.loads, content.splitlines())
    return list(dict.fromkeys(row[key] for row in rows))


def passages(sentences: Sequence[str]) -> Iterator[str]:
    """Sentences put together until they have enough words."""
    held: list[str] = []
    for sentence in sentences:
        held.append(sentence)
        if sum(len(text.split()) for text in held) >= WORDS:
            yield " ".join(held)
            held = []


def strewn(text: str) -> str:
    """A passage with a bad word after every tenth of its words."""
    words = text.split()
    parts = [[*words[at : at + 10], BAD[at // 10 % len(BAD)]] for at in range(0, len(words), 10)]
    return " ".join(word for part in parts for word in part)


def speeds(texts: dict[str, list[str]], *, rounds: int) -> None:
    """The speeds of both perturbations, beside LangTest's."""
    sentences = [text for name in TIMED for text in texts.get(name, [])]
    blocks = list(passages(texts.get("wiki_test.jsonl", sentences)))
    theirs = langtest()
    if theirs is None:
        print("langtest is not installed; only ours is measured")
    row("one core", "texts", "ours/s", "langtest/s", "ratio")
    for label, ours, kind, chosen in (
        ("negate", negate, "negation", sentences),
        ("negate, style langtest", lambda text: negate(text, style="langtest"), "negation", sentences),
        ("count_toxic", count_toxic, "count", blocks),
        ("count_toxic, ugly text", count_toxic, "count", [strewn(text) for text in blocks]),
    ):
        mine, other = per_second([ours, *([theirs[kind]] if theirs else [])], chosen, rounds=rounds)
        row(label, len(chosen), f"{mine:,.0f}", *((f"{other:,.0f}", f"{mine / other:.3g}") if other else ("-", "-")))
    words = statistics.mean(len(text.split()) for text in blocks)
    print(f"count_toxic: passages of {words:.0f} words on average\n")


def langtest() -> dict[str, Callable[[str], object]] | None:
    """LangTest's own two functions, or None where they cannot be imported."""
    try:
        from langtest.transform.sensitivity import AddNegation
        from langtest.transform.utils import compare_generations_overlap
    except ImportError:
        return None
    return {"negation": lambda text: AddNegation.transform([text]), "count": compare_generations_overlap}


def per_second(calls: Sequence[Callable[[str], object]], texts: Sequence[str], *, rounds: int) -> tuple[float, float]:
    """Texts a second for one or two functions, which take turns; 0 for a second that is missing."""
    texts = list(texts) * -(-CALLS // len(texts))
    spent: list[list[float]] = [[] for _ in calls]
    for _ in range(rounds + 1):
        for call, times in zip(calls, spent, strict=True):
            started = time.process_time()
            for text in texts:
                call(text)
            times.append(time.process_time() - started)
    first, *others = (len(texts) / statistics.median(times[1:]) for times in spent)
    return first, others[0] if others else 0.0


def coverage(texts: dict[str, list[str]]) -> None:
    """How many texts of each file can be negated, and the commonest reasons for those that cannot."""
    row("file", "texts", "changed", "skipped", "changed %")
    reasons: dict[str, Counter[str]] = {}
    for name, found in texts.items():
        outcomes = Counter(negate(text).reason or "changed" for text in found)
        changed = outcomes.pop("changed", 0)
        reasons[name] = outcomes
        row(name, len(found), changed, len(found) - changed, f"{100 * changed / len(found):.1f}")
    print()
    for name, outcomes in reasons.items():
        print(
            f"{name}: {', '.join(f'{reason} {count}' for reason, count in outcomes.most_common(10)) or 'none skipped'}"
        )


def sample(texts: dict[str, list[str]], *, count: int) -> None:
    """Some changed texts of each file, drawn with a seed, above their originals."""
    for name, found in texts.items():
        changed = [(made.original, made.text) for text in found if (made := negate(text)).text is not None]
        print(f"\n{name}")
        for original, text in random.Random(0).sample(changed, min(count, len(changed))):
            print(f"  - {original}\n  + {text}")


def row(first: str, *others: object) -> None:
    """One line of a table."""
    print(f"{first:<30}" + "".join(f"{other!s:>14}" for other in others))


if __name__ == "__main__":
    main()
