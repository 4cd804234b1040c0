"""How exactly, and with how many requests, `contrapose shrink` finds words that were planted.

`python -m bench.shrink [--cases 200] [--least 4] [--most 40]`. Each prompt has up to 40 made-up words in sentences, and
one to three of them are its trigger: next to each other or scattered. A function answers a question with two options.
Its answer flips exactly when a prompt holds all words of a trigger in capital letters, as `casing` writes the changed
prompt. One run asks all prompts; then each of its cases is shrunk.

A request is a call of the function, for the unchanged or the changed prompt. Requests that ask a prompt once more, to
see noise, are printed separately. A result is exact if its words are those of the trigger, in their order. The exit
status is 1 where less than 95 % are exact, or one took more than 60 requests.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from threading import Lock

import pandas as pd

import contrapose

WANTED, MOST_REQUESTS = 0.95, 60
SYLLABLES = [f"{start}{vowel}" for start in "bdfgklmnprstvz" for vowel in "aeiou"]
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Plant:
    """A text, and the words of it that flip the answer."""

    text: str
    trigger: tuple[str, ...]


def plant_triggers(count: int, *, least: int, most: int, seed: int = 0) -> list[Plant]:
    """Return texts of made-up words, none of which is in two texts."""
    rng = random.Random(seed)
    words = ["".join(rng.choices(SYLLABLES, k=4)) for _ in range(2 * count * most)]
    fresh = iter(dict.fromkeys(words))
    plants = []
    for _ in range(count):
        own = [next(fresh) for _ in range(rng.randint(least, most))]
        size = min(rng.randint(1, 3), len(own))
        first = rng.randrange(len(own) - size + 1)
        scattered = sorted(rng.sample(range(len(own)), size))
        places = scattered if rng.random() < 1 / 2 else range(first, first + size)
        ends = {len(own) - 1, *rng.sample(range(len(own)), len(own) // 9)}
        text = " ".join(f"{word}." if place in ends else word for place, word in enumerate(own))
        plants.append(Plant(text, tuple(own[place] for place in places)))
    return plants


class Flipping:
    """A function whose answer flips when a prompt holds all words of a trigger in capital letters."""

    def __init__(self, plants: Sequence[Plant]) -> None:
        self.triggers = {word.upper(): plant.trigger for plant in plants for word in plant.trigger}
        self.calls = 0
        self._lock = Lock()

    def __call__(self, prompt: str) -> str:
        with self._lock:
            self.calls += 1
        words = set(_WORD.findall(prompt))
        trigger = next((self.triggers[word] for word in words if word in self.triggers), None)
        return "B" if trigger and all(word.upper() in words for word in trigger) else "A"


def main() -> int:
    """Print how many are found exactly, and how many requests that took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("cases", 200), ("least", 4), ("most", 40), ("repeats", 3), ("seed", 0)):
        parser.add_argument(f"--{name}", type=int, default=default)
    chosen = parser.parse_args()
    plants = plant_triggers(chosen.cases, least=chosen.least, most=chosen.most, seed=chosen.seed)
    answer = Flipping(plants)
    rows = pd.DataFrame({"text": [plant.text for plant in plants], "options": [["yes", "no"]] * len(plants)})
    with tempfile.TemporaryDirectory() as folder:
        os.environ["CONTRAPOSE_STORE"] = f"sqlite:///{folder}/answers.db"
        settings = {"tests.robustness.casing.style": "upper"}
        run = contrapose.evaluate(
            model=answer, revision="1", data=rows, test="casing", settings=settings, out=folder, quiet=True
        )
        requests, again, exact = list[int](), 0, 0
        for plant, case in zip(plants, run.results["case_id"], strict=True):
            before = answer.calls
            found = contrapose.shrink(run, case, model=answer, repeats=chosen.repeats, quiet=True)
            if found.calls != answer.calls - before:
                raise SystemExit(f"{case}: {found.calls} calls are reported, {answer.calls - before} were made")
            requests.append(found.calls - found.repeat_calls)
            again += found.repeat_calls
            exact += tuple(_WORD.findall(found.text)) == plant.trigger and found.stopped is None
    share = exact / len(plants)
    print(f"{len(plants)} prompts of {chosen.least} to {chosen.most} words: {share:.1%} exact")
    print(
        f"requests: median {median(requests):g}, most {max(requests)}; to ask again: {again / len(plants):.1f} a case"
    )
    return int(share < WANTED or max(requests) > MOST_REQUESTS)


if __name__ == "__main__":
    sys.exit(main())
