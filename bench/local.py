"""The local engine against a plain batched pass: `python -m bench.local FILE [--lm-eval PYTHON] [--reference N]`.

FILE holds summary pairs; the prompts are those of order_bias. All figures of one call come from one run:
compare the ratios, not the seconds. Seconds of work of all cores stand beside those of the clock: where other
processes take part of the machine, only they compare, and only with OMP_WAIT_POLICY=passive.
PYTHON is an interpreter with lm-eval, transformers and torch.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.config.plan import plans
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core.questions import Answer, Question
from contrapose.tasks.core.registry import probe
from contrapose.tasks.infer.budget import Budget
from contrapose.tasks.infer.local.embedded import Embedded, converted_folder
from contrapose.tasks.infer.local.transformer import TransformerModel
from contrapose.tasks.load.samples import load_samples
from contrapose.tasks.perturb.cases import build_cases

SIZES = (8, 16, 32)
LM_EVAL = Path(__file__).with_name("lm_eval_pass.py")

Scores = list[tuple[float, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Time:
    """What a pass took."""

    wall: float
    """Seconds on the clock."""
    work: float
    """Seconds of work, of all cores together."""

    def __str__(self) -> str:
        return f"{self.wall:.1f} s ({self.work:.1f} s of work)"

    def times(self, other: Time) -> str:
        """This time in units of another."""
        return f"{self.wall / other.wall:.2f} ({self.work / other.work:.2f} of the work)"


class Watch:
    """Started when it is made."""

    def __init__(self) -> None:
        self.wall, self.work = time.perf_counter(), time.process_time()

    def read(self) -> Time:
        """The time since."""
        return Time(wall=time.perf_counter() - self.wall, work=time.process_time() - self.work)


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
    parser.add_argument("--dtype", default="auto")
    parser.add_argument("--lm-eval", type=Path, metavar="PYTHON")
    parser.add_argument("--reference", type=int, default=0, metavar="N")
    given = parser.parse_args()
    asked = questions(given.data, given.limit)
    model = opened(given.dtype)
    dtype = str(model.model.dtype).removeprefix("torch.")
    print(f"{len(asked)} prompts, {dtype}", flush=True)
    plain([*asked[:8]], model, size=8)
    ours, found = engine(asked, model)
    print(f"ours: {ours}, {dict(model.notes())}", flush=True)
    times = {size: plain(asked, model, size=size) for size in SIZES}
    best = min(times.values(), key=lambda each: each.work)
    print(f"plain: {', '.join(f'{size}: {each}' for size, each in times.items())}")
    print(f"ours / best plain: {ours.times(best)}", flush=True)
    if given.lm_eval:
        lm, theirs = harness(asked, given.lm_eval, dtype=dtype)
        print(f"lm-eval: {lm}; lm-eval / ours: {lm.times(ours)}; {drift(found, theirs)}", flush=True)
    if given.reference:
        some = asked[:: max(1, len(asked) // given.reference)][: given.reference]
        numbers = [asked.index(question) for question in some]
        print(f"against float32, one by one: {drift([found[n] for n in numbers], reference(some))}")


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


def opened(dtype: str) -> TransformerModel:
    """The embedded model."""
    return Embedded().open(ModelSpec(id="embedded", args={"device": "cpu", "dtype": dtype}, batch_size="auto"))


def engine(asked: Sequence[Question], model: TransformerModel) -> tuple[Time, Scores]:
    """Seconds and log-likelihoods of everything between questions and answers."""
    broker = MemoryBroker()
    watch = Watch()
    model.answer(asked, broker)
    return watch.read(), [broker.answers[each].completion.option_loglikelihoods or () for each in asked]


def plain(asked: Sequence[Question], model: TransformerModel, *, size: int) -> Time:
    """Seconds of batches of one size, sorted by length, padded, with the last token's logits only."""
    import torch

    encoder = model.encoder
    watch = Watch()
    encoded = sorted((encoder.prompt(each.prompt) for each in asked), key=len)
    labels = [encoder.label(label)[0] for label in asked[0].labels]
    for first in range(0, len(encoded), size):
        rows = encoded[first : first + size]
        width = max(map(len, rows))
        ids = torch.tensor([[encoder.pad_id] * (width - len(row)) + row for row in rows])
        mask = torch.tensor([[0] * (width - len(row)) + [1] * len(row) for row in rows])
        with torch.inference_mode():
            logits = model.model(input_ids=ids, attention_mask=mask, logits_to_keep=1, use_cache=False).logits
            logits[:, -1].float().log_softmax(-1)[:, labels].tolist()
    return watch.read()


def reference(asked: Sequence[Question]) -> Scores:
    """Log-likelihoods in float32, each prompt alone."""
    import torch

    model = opened("float32")
    found: Scores = []
    for question in asked:
        labels = [model.encoder.label(label)[0] for label in question.labels]
        with torch.inference_mode():
            logits = model.model(torch.tensor([model.encoder.prompt(question.prompt)]), logits_to_keep=1).logits
        found.append(tuple(logits[0, -1].log_softmax(-1)[labels].tolist()))
    return found


def harness(asked: Sequence[Question], python: Path, *, dtype: str) -> tuple[Time, Scores]:
    """Seconds and log-likelihoods of lm-eval's `hf` model for the same contexts and continuations."""
    requests = [(each.prompt, f" {label}") for each in asked for label in each.labels]
    given = {"folder": str(converted_folder()), "dtype": dtype, "requests": requests}
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
    """How far log-likelihoods are apart, in nats."""
    gaps = [abs(a - b) for one, other in zip(ours, theirs, strict=True) for a, b in zip(one, other, strict=True)]
    return f"drift in nats: mean {sum(gaps) / len(gaps):.4f}, largest {max(gaps):.4f}"


if __name__ == "__main__":
    main()
