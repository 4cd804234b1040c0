"""How well a model reads when it is asked back: `python -m bench.asking_back [--model ID] [--set NAME] [--most N]`.

The replies are those of `bench.replies`, whose choice is labelled, in every form with each letter. For each set and
letter: how many the model names rightly, how many wrongly, and how many of its answers name no option. Every run shows
the same figure for the model at hand, on replies that the rules read; here are also those that rules do not read.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from typing import Any

from bench.local import MemoryBroker
from bench.replies import GOLDEN, SETS, SUMMARIES, filled
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core.questions import Question
from contrapose.tasks.core.registry import find
from contrapose.tasks.probes.reader_questions import read_reader_answer, write_question


def main() -> None:
    """Ask about every reply of the sets, and print a line for each split and letter."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="embedded", help="as in a configuration")
    parser.add_argument("--set", choices=SETS, action="append", help="may be given again; all of them without it")
    parser.add_argument("--most", type=int, metavar="N", help="replies of each set, drawn evenly; all without it")
    given = parser.parse_args()
    spec = RunConfig(model=given.model, gen_kwargs={"max_new_tokens": 6}).model_spec()
    provider = find("providers", spec.provider)()
    model = provider.open(spec.model_copy(update={"identity": dict(provider.identity(spec))}))
    for name in given.set or SETS:
        rows = [json.loads(line) for line in (GOLDEN / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]
        replies = [each for row in rows for each in filled(row)]
        step = max(1, len(replies) // given.most) if given.most else 1
        asked = [(each, _question(each)) for each in replies[::step]]
        broker = MemoryBroker()
        model.answer(list(dict.fromkeys(each for _, each in asked)), broker)
        found: Counter[tuple[str, str, str]] = Counter()
        for row, each in asked:
            said = read_reader_answer(broker.answers[each].completion.text, row.get("options") or SUMMARIES)
            right = row["choice"] or "none"
            found[row["split"], right, "no option" if said is None else "right" if said == right else "wrong"] += 1
        for split, letter in sorted({key[:2] for key in found}, reverse=True):
            counts = {told: found[split, letter, told] for told in ("right", "wrong", "no option")}
            total = sum(counts.values())
            told = ", ".join(f"{kind} {count / total:.1%}" for kind, count in counts.items())
            print(f"{name} {split} {letter}: {total} replies, {told}", flush=True)


def _question(row: dict[str, Any]) -> Question:
    return Question(kind="generate", prompt=write_question(row["reply"], row.get("options") or SUMMARIES))


if __name__ == "__main__":
    main()
