"""How well recorded replies of six models are read, by letter: `python -m bench.llmbar ../shared/data`.

Every reply of LLMBar's judges (llmbar_replies.jsonl.gz) is read twice: as it was written, with "Output (a)", and with
"Summary A" in its place. The letter that the data set records is the label. For each model, strategy and letter: read
right, missed, wrong; then the same for the replies that explain themselves. Where the data set's own letters are known
to be misreadings, the rows are listed apart. The exit status is 1 where a bar is missed.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from contrapose.tasks.probes.order_bias import read_choice

FILE = "llmbar_replies.jsonl.gz"
FORMS = ("as_summary", "reply")
MOST_MISSED, MOST_APART, MOST_WRONG = 0.01, 0.005, 0.0005
"""Bars for replies that explain: share missed, its difference between the letters, share read wrongly."""
BARE = 40
"""Characters up to which a reply is an answer without an explanation: "Output (a) is better." has 21."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One recorded reply, and the letter that the data set and that we read."""

    id: str
    order: str
    """`correct_first` or `correct_second`."""
    model: str
    strategy: str
    reply: str
    label: str | None
    read: str | None

    @property
    def explains(self) -> bool:
        """Whether the reply says why."""
        return len(self.reply) > BARE

    @property
    def apart(self) -> bool:
        """Whether the data set's pattern reads this judge's explanations by the first letter after the answer."""
        return self.explains and ((self.model, self.strategy) == ("PaLM2", "CoT") or self._is_llama_without_cot)

    @property
    def _is_llama_without_cot(self) -> bool:
        return self.model == "LLaMA2" and self.strategy != "CoT"

    @property
    def outcome(self) -> str:
        """Right, missed or wrong; `unlabelled` where the data set has no letter and neither have we, else `read`."""
        if self.label is None:
            return "unlabelled" if self.read is None else "read without a label"
        return "right" if self.read == self.label else "wrong" if self.read else "missed"


def rows(folder: Path, form: str) -> Iterator[Row]:
    """Every reply of the file, read in one of the two forms."""
    with gzip.open(folder / FILE, "rt", encoding="utf-8") as lines:
        for line in lines:
            found = json.loads(line)
            for order in ("correct_first", "correct_second"):
                reply = found[f"{form}_{order}"]
                yield Row(
                    id=found["id"],
                    order=order,
                    model=found["model"],
                    strategy=found["strategy"],
                    reply=reply,
                    label=found[f"read_{order}"],
                    read=read_choice(reply).choice,
                )


def by_letter(chosen: Iterable[Row]) -> dict[str, Counter[str]]:
    """The outcomes of the labelled rows, by the label."""
    counts: dict[str, Counter[str]] = {"A": Counter(), "B": Counter()}
    for row in chosen:
        if row.label:
            counts[row.label][row.outcome] += 1
    return counts


def share(counts: Mapping[str, int], outcome: str) -> float:
    """The share of an outcome, 0 to 1; 0 where there is nothing."""
    return counts.get(outcome, 0) / max(1, sum(counts.values()))


def missed_bars(counts: Mapping[str, Counter[str]]) -> list[str]:
    """What the explained replies miss, in words; empty when every bar holds."""
    every = counts["A"] + counts["B"]
    apart = abs(share(counts["A"], "missed") - share(counts["B"], "missed"))
    bars = (
        ("missed", share(every, "missed"), MOST_MISSED),
        ("difference between the letters", apart, MOST_APART),
        ("wrong", share(every, "wrong"), MOST_WRONG),
    )
    return [f"{name}: {value:.2%}, at most {most:.2%}" for name, value, most in bars if value > most]


def main() -> int:
    """Print the tables of both forms."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help=f"where {FILE} lies")
    parser.add_argument("--list", type=Path, metavar="FILE", help="write each reply that is read otherwise")
    arguments = parser.parse_args()
    if arguments.list:
        otherwise = (row for form in FORMS for row in rows(arguments.folder, form) if row.read != row.label)
        arguments.list.write_text("".join(f"{json.dumps(asdict(row) | {'apart': row.apart})}\n" for row in otherwise))
    return max(report(form, list(rows(arguments.folder, form))) for form in FORMS)


def report(form: str, found: list[Row]) -> int:
    """Print one form's tables; 1 where a bar is missed."""
    print(f"\n{form}: {len(found)} replies")
    for model, strategy in sorted({(row.model, row.strategy) for row in found}):
        told(f"{model} {strategy}", [row for row in found if (row.model, row.strategy) == (model, strategy)])
    told("apart (the data set's letters are misreadings)", [row for row in found if row.apart])
    told("bare", [row for row in found if not row.explains])
    explained = [row for row in found if row.explains and not row.apart]
    told("explained", explained)
    missed = missed_bars(by_letter(explained))
    print("  bars: " + ("; ".join(missed) if missed else "all hold"))
    return int(bool(missed))


def told(title: str, chosen: list[Row]) -> None:
    """Print the outcomes of some rows, by letter."""
    counts = by_letter(chosen)
    for letter, each in counts.items():
        figures = ", ".join(f"{each[name]} {name} ({share(each, name):.2%})" for name in ("right", "missed", "wrong"))
        print(f"  {title}, {letter}: {sum(each.values())} replies, {figures}")
    if unlabelled := [row.outcome for row in chosen if row.label is None]:
        print(f"  {title}, no letter: {dict(Counter(unlabelled))}")


if __name__ == "__main__":
    sys.exit(main())
