"""Write replies of a causal language model in batches, with or without random sampling."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, NamedTuple

from contrapose.tasks.config.model_spec import Generation
from contrapose.tasks.core.records import Completion, Usage
from contrapose.tasks.infer.local.machine import BatchMemory
from contrapose.tasks.infer.local.prompting import Encoder
from contrapose.tasks.infer.local.rows import compute_padded_width


class ReplyRequest(NamedTuple):
    """A prompt that wants a reply, with its length limit and its seed."""

    ids: list[int]
    """Tokens that are read."""
    limit: int
    """Most tokens of the reply."""
    seed: int
    """64 bits that a sampled reply is drawn with; a greedy one needs none."""


class ReplyGenerator:
    """Writes replies with a causal language model, which is in eval mode."""

    def __init__(self, model: Any, encoder: Encoder, generation: Generation, memory: BatchMemory) -> None:
        self.model, self.encoder, self.generation, self.memory = model, encoder, generation, memory

    def compute(self, prompts: Sequence[ReplyRequest]) -> list[Completion]:
        """Return replies to prompts of similar length, in order; raise TooLargeError if a prompt does not fit."""

        def size(prompts: Sequence[ReplyRequest]) -> int:
            return len(prompts) * (max(len(one.ids) for one in prompts) + max(one.limit for one in prompts))

        return self.memory.run(prompts, self._write, size=size)

    def _write(self, prompts: Sequence[ReplyRequest]) -> list[Completion]:
        import torch
        from transformers import LogitsProcessorList, StoppingCriteriaList

        start = compute_padded_width(max(len(prompt.ids) for prompt in prompts), self.model.device.type)
        gaps = [start - len(prompt.ids) for prompt in prompts]
        # On the left, so that every reply starts in the same column.
        padded = [[self.encoder.pad_id] * gap + prompt.ids for gap, prompt in zip(gaps, prompts, strict=True)]
        mask = [[0] * gap + [1] * (start - gap) for gap in gaps]
        stops, temperature, top_p = self.generation.stop, self.generation.temperature, self.generation.top_p

        def find_stops(ids: Any, _: Any) -> Any:
            texts = self.encoder.tokenizer.batch_decode(ids[:, start:], skip_special_tokens=True)
            return torch.tensor([any(stop in text for stop in stops) for text in texts], device=ids.device)

        seeds = [prompt.seed for prompt in prompts]
        sampling = [Sampler(seeds, start=start, temperature=temperature, top_p=top_p)] if temperature else []
        with torch.inference_mode():
            output = self.model.generate(
                input_ids=torch.tensor(padded, device=self.model.device),
                attention_mask=torch.tensor(mask, device=self.model.device),
                max_new_tokens=max(prompt.limit for prompt in prompts),
                # Its own way of sampling draws for a batch as a whole.
                do_sample=False,
                temperature=None,
                top_p=None,
                top_k=None,
                pad_token_id=self.encoder.pad_id,
                logits_processor=LogitsProcessorList(sampling),
                stopping_criteria=StoppingCriteriaList([find_stops] if stops else []),
            )
        ends = self.model.generation_config.eos_token_id
        ends = (*(ends if isinstance(ends, list) else [ends]), self.encoder.pad_id)
        completions = []
        for prompt, tokens in zip(prompts, output[:, start:].tolist(), strict=True):
            # Another prompt of the batch may have had more room.
            written = tokens[: prompt.limit]
            text = self.encoder.tokenizer.decode(written, skip_special_tokens=True)
            for stop in stops:
                text = text.partition(stop)[0]
            count = next((place for place, token in enumerate(written) if token in ends), len(written))
            usage = Usage(calls=1, prompt_tokens=len(prompt.ids), completion_tokens=count)
            # Where the template opened a thought, the mark shows it in a reply, even where it is cut off.
            completions.append(Completion(text=self.encoder.template.thought + text, usage=usage))
        return completions


# Sampled replies that depend on the question alone: the likeliest token after noise that belongs to the question.
#
# With Gumbel noise of its own added to each log-probability, the largest sum is at a token drawn from the softmax
# (Maddison, Tarlow, Minka, "A* Sampling", NIPS 2014). The noise of a token is a function of question, step
# and token, so a reply is the same alone, in any batch and when a run is resumed, wherever the model's logits are.
# In 16-bit numbers a batch moves logits a little, and with them some replies, sampled or greedy.

CANDIDATES = 1000
"""Tokens that are looked at one by one at every step; the others are drawn together first, which is as exact."""


class Sampler:
    """A logits processor that draws one token for each row, and excludes all others.

    Args:
        seeds: of the rows' questions, 64 bits each.
        start: tokens before the replies.
        temperature: divisor of logits, above 0.
        top_p: share of the probability that the likeliest tokens must have together to be the only ones; None: all.
    """

    def __init__(self, seeds: Sequence[int], *, start: int, temperature: float, top_p: float | None) -> None:
        self.seeds, self.start, self.temperature, self.top_p = seeds, start, temperature, top_p

    def __call__(self, ids: Any, scores: Any) -> Any:
        """Return 0 for the drawn tokens and minus infinity for all others; `scores`: logits, (rows, vocabulary)."""
        import torch

        # Logits that a small temperature makes too large for float32 differ from the largest one only downwards.
        scaled = (scores - scores.amax(-1, keepdim=True)) / self.temperature
        if self.top_p is not None and self.top_p < 1:
            scaled = keep_nucleus(scaled, self.top_p)
        seeds = torch.tensor(self.seeds, device=scores.device)
        step = torch.tensor(ids.shape[1] - self.start, device=scores.device)
        keys = splitmix(seeds.unsqueeze(-1), step + 1)
        return torch.full_like(scores, -torch.inf).scatter_(-1, draw_tokens(scaled, keys), 0.0)


def draw_tokens(scores: Any, keys: Any) -> Any:
    """Draw a token for each row from the softmax of its scores, as (rows, 1).

    The largest noisy score of many tokens is their log-sum-exp with Gumbel noise of its own, and tells nothing of
    which token has it ("A* Sampling", too): so the tokens that are no candidates count as one, until it wins.

    Args:
        scores: (rows, vocabulary), unnormalised log-probabilities.
        keys: (rows, 1), int64, of the noise.
    """
    import torch

    size = scores.shape[-1]
    values, tokens = scores.topk(min(CANDIDATES, size))
    others = scores.scatter(-1, tokens, -torch.inf)
    values = torch.cat([values, others.logsumexp(-1, keepdim=True)], -1)
    tokens = torch.cat([tokens, torch.full_like(keys, size)], -1)
    drawn = tokens.gather(-1, (values + make_gumbel_noise(keys, tokens)).argmax(-1, keepdim=True))
    among = drawn.squeeze(-1) == size
    if among.any():
        noise = make_gumbel_noise(keys[among], torch.arange(size, device=scores.device))
        drawn[among] = (others[among] + noise).argmax(-1, keepdim=True)
    return drawn


def keep_nucleus(scores: Any, top_p: float, *, looked_at: int = CANDIDATES) -> Any:
    """Return scores with minus infinity outside the fewest likeliest tokens that have `top_p` of the probability.

    Equally likely tokens are in or out together. From Holtzman and others, "The curious case of neural text
    degeneration", ICLR 2020. It sorts whole rows only where the first tokens have too little: sorting a quarter of a
    million words takes longer than a small model does.

    Args:
        scores: (rows, vocabulary), unnormalised log-probabilities.
        top_p: above 0 and below 1.
        looked_at: how many tokens to sort at first.
    """
    import torch

    size = scores.shape[-1]
    values = scores.topk(min(looked_at, size)).values
    shares = (values - scores.logsumexp(-1, keepdim=True)).exp()
    inside = shares.cumsum(-1) - shares < top_p
    least = values.where(inside, torch.inf).amin(-1, keepdim=True)
    kept = scores.masked_fill(scores < least, -torch.inf)
    open_ended = inside.all(-1)
    if looked_at < size and open_ended.any():
        kept[open_ended] = keep_nucleus(scores[open_ended], top_p, looked_at=size)
    return kept


GAMMA = 0x9E3779B97F4A7C15
STEPS = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))
LAST_SHIFT = 31
"""Constants of SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014)."""

BITS = 52
"""Of a uniform number: with half of the last one added it is exact in float64, and neither 0 nor 1."""


def seed(text: str) -> int:
    """Return 64 bits of a text's SHA-256, signed as torch has them."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big", signed=True)


def splitmix(seeds: Any, places: Any) -> Any:
    """Return pseudo-random numbers (SplitMix64) of the streams that seeds start; torch wraps 64-bit numbers, too.

    Both are int64, of shapes that fit; place 1 is a stream's first number.
    """
    mixed = seeds + places * _as_signed(GAMMA)
    for shift, factor in STEPS:
        mixed = (mixed ^ _shift_right(mixed, shift)) * _as_signed(factor)
    return mixed ^ _shift_right(mixed, LAST_SHIFT)


def make_gumbel_noise(keys: Any, tokens: Any) -> Any:
    """Return standard Gumbel noise, float32; `keys`: streams, (rows, 1), `tokens`: places, (rows, n) or (n,), int64."""
    import torch

    # Apple's devices have no float64; there the noise is made on the CPU.
    device = "cpu" if keys.device.type == "mps" else keys.device
    drawn = _shift_right(splitmix(keys.to(device), tokens.to(device) + 1), 64 - BITS)
    uniform = drawn.to(torch.float64).add_(0.5).mul_(2.0**-BITS)
    return uniform.log_().neg_().log_().neg_().to(keys.device, torch.float32)


def _shift_right(values: Any, places: int) -> Any:
    """Shift bits to the right and fill with zeros, also for negative numbers."""
    return (values >> places) & ((1 << (64 - places)) - 1)


def _as_signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value
