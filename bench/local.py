"""The local engine against a plain batched pass: `python -m bench.local FILE [--rounds N] [--lm-eval PYTHON]`.

`--model hf/FOLDER --device cuda` measures another model, on a GPU.

FILE holds summary pairs; the prompts are those of order_bias. All figures of one call come from one run:
compare the ratios, not the seconds. Seconds of work of all cores stand beside those of the clock: where other
processes take part of the machine, only they compare, and only with OMP_WAIT_POLICY=passive. In each round the engine
and the plain passes take turns; the ratio is the median of the rounds. Of tokens, those that layers read are counted.
PYTHON is an interpreter with lm-eval, transformers and torch.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from contrapose.flows.orchestration.library_settings import SETTINGS
from contrapose.flows.serve.temporary_server import collect_rarely
from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.config.plan import plans
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core.questions import Answer, Question
from contrapose.tasks.core.registry import probe
from contrapose.tasks.infer.budget import Budget
from contrapose.tasks.infer.local.embedded import Embedded, prepare_copy
from contrapose.tasks.infer.local.huggingface import HuggingFace
from contrapose.tasks.infer.local.transformer import TransformerModel
from contrapose.tasks.load.samples import load_samples
from contrapose.tasks.perturb.cases import build_cases
from contrapose.tasks.tables.large_blocks import keep_no_large_blocks, large_blocks_kept

SIZES, SIZES_ON_GPU = (8, 16, 32), (32, 64, 128)
LM_EVAL = Path(__file__).with_name("lm_eval_pass.py")

Scores = list[tuple[float, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Time:
    """What a pass took."""

    wall: float
    """Seconds on the clock."""
    work: float
    """Seconds of work, of all cores together."""
    tokens: int = 0
    """Tokens that were read, fillers included."""

    def __str__(self) -> str:
        return f"{self.wall:.1f} s ({self.work:.1f} s of work), {self.tokens} tokens"

    def times(self, other: Time) -> str:
        """This time in units of another."""
        return f"{self.wall / other.wall:.2f} ({self.work / other.work:.2f} of the work)"


class Watch:
    """Started when it is made.

    Args:
        model: whose tokens are counted.
    """

    def __init__(self, model: TransformerModel) -> None:
        self.tokens = 0
        self.hook = model.model.get_input_embeddings().register_forward_pre_hook(self._count)
        self.wall, self.work = time.perf_counter(), time.process_time()

    def read(self) -> Time:
        """The time since; tokens are no longer counted."""
        self.hook.remove()
        wall, work = time.perf_counter() - self.wall, time.process_time() - self.work
        return Time(wall=wall, work=work, tokens=self.tokens)

    def _count(self, _: Any, arguments: tuple[Any, ...]) -> None:
        self.tokens += arguments[0].numel()


@dataclass(slots=True)
class MemoryBroker:
    """A broker without a store."""

    budget: Budget = field(default_factory=Budget)
    answers: dict[Question, Answer] = field(default_factory=dict)
    stopped: str | None = None

    def take(self, questions: Sequence[Question]) -> list[Question]:
        """All of them."""
        return list(questions)

    def put(self, answers: Sequence[Answer]) -> None:
        """Keep them."""
        self.answers |= {answer.question: answer for answer in answers}

    def stop(self, reason: str) -> None:
        """Nothing is limited here."""
        raise SystemExit(reason)


def main() -> None:
    """Measure and print seconds, ratios and drift."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--limit", type=int)
    parser.add_argument("--rounds", type=int, default=1, metavar="N")
    parser.add_argument("--model", default="embedded", metavar="ID")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--dtype", default="auto")
    parser.add_argument("--lm-eval", type=Path, metavar="PYTHON")
    parser.add_argument("--reference", type=int, default=0, metavar="N")
    given = parser.parse_args()
    # As in `contrapose run`.
    os.environ.setdefault("TOKENIZERS_PARALLELISM", SETTINGS["TOKENIZERS_PARALLELISM"])
    # Named on the command line, so it may be read wherever it lies.
    os.environ["CONTRAPOSE_DATA"] = str(given.data.resolve())
    collect_rarely()
    keep_no_large_blocks()
    asked = questions(given.data, given.limit)
    model = opened(given.model, given.device, given.dtype)
    dtype = str(model.model.dtype).removeprefix("torch.")
    print(f"{len(asked)} prompts, {dtype}; their distinct beginnings: {beginnings(asked, model)} tokens", flush=True)
    plain([*asked[:8]], model, size=8)
    rounds = [one_round(asked, model) for _ in range(given.rounds)]
    ours = sorted((each.ours for each in rounds), key=lambda each: each.work)[len(rounds) // 2]
    scores = rounds[0].scores
    print(f"ours / best plain, in the median: {median(each.ratio for each in rounds):.3f} of the work", flush=True)
    if given.lm_eval:
        lm, theirs = harness(asked, given.lm_eval, dtype=dtype)
        print(f"lm-eval: {lm}; lm-eval / ours: {lm.times(ours)}; {drift(scores, theirs)}", flush=True)
    if given.reference:
        some = asked[:: max(1, len(asked) // given.reference)][: given.reference]
        numbers = [asked.index(question) for question in some]
        print(f"against float32, one by one: {drift([scores[n] for n in numbers], reference(some, given))}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """The engine and the plain passes, one after another."""

    ours: Time
    """What the engine took."""
    scores: Scores
    """What it gave."""
    ratio: float
    """Its work in units of the best plain pass."""


def one_round(asked: Sequence[Question], model: TransformerModel) -> Round:
    """Measure each pass once, and print it."""
    # Nothing is known of the model yet: checking a sample is part of the time.
    fresh = TransformerModel(model=model.model, encoder=model.encoder, generation=model.generation, limit=model.limit)
    ours, scores = engine(asked, fresh)
    print(f"ours: {ours}, {dict(fresh.notes())}", flush=True)
    sizes = SIZES if model.model.device.type == "cpu" else SIZES_ON_GPU
    with large_blocks_kept():
        passes = {size: plain(asked, model, size=size) for size in sizes}
    best, theirs = min(passes.values(), key=lambda each: each[0].work)
    print(f"plain: {', '.join(f'{size}: {time}' for size, (time, _) in passes.items())}")
    print(f"ours / best plain: {ours.times(best)}; {drift(scores, theirs)}", flush=True)
    return Round(ours=ours, scores=scores, ratio=ours.work / best.work)


def beginnings(asked: Sequence[Question], model: TransformerModel) -> int:
    """How many tokens suffice: one for each different beginning of a prompt."""
    encoded = set(map(tuple, model.encoder.encode_prompts([each.prompt for each in asked])))
    return len({ids[:length] for ids in encoded for length in range(1, len(ids) + 1)})


def questions(data: Path, limit: int | None) -> list[Question]:
    """What order_bias asks: both orders of every pair."""
    config = RunConfig.model_validate(
        {"tests": {"factuality": {"order_bias": {}}}, "data": {"source": str(data)}, "limit": limit}
    )
    (plan,) = plans(config)
    samples = load_samples(plan.data, probe(plan.test).sample_type, limit=plan.limit, seed=0).samples
    cases = [case for case in build_cases(samples, plan, seed=0, likelihoods="all") if case.skip_reason is None]
    prompts = [prompt for case in cases for prompt in (case.original_prompt, case.perturbed_prompt) if prompt]
    return [Question(kind="choose", prompt=prompt, labels=("A", "B")) for prompt in dict.fromkeys(prompts)]


def opened(name: str, device: str, dtype: str) -> TransformerModel:
    """A model that runs here."""
    spec = ModelSpec(id=name, args={"device": device, "dtype": dtype}, batch_size="auto")
    return (Embedded() if name == "embedded" else HuggingFace()).open(spec)


def engine(asked: Sequence[Question], model: TransformerModel) -> tuple[Time, Scores]:
    """Seconds and log-likelihoods of everything between questions and answers."""
    broker = MemoryBroker()
    watch = Watch(model)
    model.answer(asked, broker)
    return watch.read(), [broker.answers[each].completion.option_loglikelihoods or () for each in asked]


def plain(asked: Sequence[Question], model: TransformerModel, *, size: int) -> tuple[Time, Scores]:
    """Batches of one size, sorted by length, padded, with the last token's logits only."""
    import torch

    encoder = model.encoder
    scores: dict[int, tuple[float, ...]] = {}
    watch = Watch(model)
    encoded = encoder.encode_prompts([each.prompt for each in asked])
    order = sorted(range(len(asked)), key=lambda number: len(encoded[number]))
    labels = [encoder.encode_label(label)[0] for label in asked[0].labels]
    for first in range(0, len(order), size):
        rows = [encoded[number] for number in order[first : first + size]]
        width = max(map(len, rows))
        ids = torch.tensor([[encoder.pad_id] * (width - len(row)) + row for row in rows], device=model.model.device)
        mask = torch.tensor([[0] * (width - len(row)) + [1] * len(row) for row in rows], device=model.model.device)
        with torch.inference_mode():
            logits = model.model(input_ids=ids, attention_mask=mask, logits_to_keep=1, use_cache=False).logits
            logs = logits[:, -1].float().log_softmax(-1)[:, labels].tolist()
        scores |= zip(order[first : first + size], map(tuple, logs), strict=True)
    return watch.read(), [scores[number] for number in range(len(asked))]


def reference(asked: Sequence[Question], given: argparse.Namespace) -> Scores:
    """Log-likelihoods in float32, each prompt alone."""
    import torch

    model = opened(given.model, given.device, "float32")
    found: Scores = []
    for question in asked:
        labels = [model.encoder.encode_label(label)[0] for label in question.labels]
        with torch.inference_mode():
            ids = torch.tensor(model.encoder.encode_prompts([question.prompt]), device=model.model.device)
            logits = model.model(ids, logits_to_keep=1).logits
        found.append(tuple(logits[0, -1].log_softmax(-1)[labels].tolist()))
    return found


def harness(asked: Sequence[Question], python: Path, *, dtype: str) -> tuple[Time, Scores]:
    """Seconds and log-likelihoods of lm-eval's `hf` model for the same contexts and continuations."""
    requests = [(each.prompt, f" {label}") for each in asked for label in each.labels]
    given = {"folder": str(prepare_copy()), "dtype": dtype, "requests": requests}
    with tempfile.TemporaryDirectory() as work:
        source, target = Path(work) / "given.json", Path(work) / "found.json"
        source.write_text(json.dumps(given))
        subprocess.run([python, LM_EVAL, source, target], check=True)
        found: Mapping[str, list[float]] = json.loads(target.read_text())
    values = found["loglikelihoods"]
    width = len(asked[0].labels)
    return Time(wall=found["wall"][0], work=found["work"][0]), [
        tuple(values[at : at + width]) for at in range(0, len(values), width)
    ]


def drift(ours: Scores, theirs: Scores) -> str:
    """How many choices differ, and how far log-likelihoods are apart, in nats."""
    gaps = [abs(a - b) for one, other in zip(ours, theirs, strict=True) for a, b in zip(one, other, strict=True)]
    other = sum(one.index(max(one)) != two.index(max(two)) for one, two in zip(ours, theirs, strict=True))
    return f"{other} other choices, drift in nats: mean {sum(gaps) / len(gaps):.4f}, largest {max(gaps):.4f}"


if __name__ == "__main__":
    main()
