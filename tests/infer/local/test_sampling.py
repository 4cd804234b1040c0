"""Sampled replies: drawn from the model's own probabilities, and the question's alone."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
import torch
from plain_broker import completions
from scipy.stats import chisquare
from transformers import TopPLogitsWarper

from contrapose.tasks.config.model_spec import Generation, ModelSpec
from contrapose.tasks.core.questions import Question
from contrapose.tasks.core.records import Completion
from contrapose.tasks.infer.local.huggingface import HuggingFace
from contrapose.tasks.infer.local.replies import Sampler, draw_tokens, keep_nucleus, make_gumbel_noise, seed, splitmix
from contrapose.tasks.infer.local.transformer import TransformerModel

PROMPTS = ["the sky is", "it was not red and so the sky is blue", "a", "in the sky it is green , on and on"]
WARM, GREEDY = Generation(max_new_tokens=6, temperature=0.8), Generation(max_new_tokens=6)
QUESTIONS = [Question(kind="generate", prompt=prompt, repeat=repeat) for prompt in PROMPTS for repeat in range(2)]


def opened(folder: Path, generation: Generation = WARM, batch_size: int = 12) -> TransformerModel:
    args = {"dtype": "float32", "device": "cpu"}
    return HuggingFace().open(ModelSpec(id=f"hf/{folder}", args=args, generation=generation, batch_size=batch_size))


@cache
def replies(folder: Path, generation: Generation = WARM) -> list[Completion]:
    """Replies to all questions, in one batch."""
    return completions(opened(folder, generation), QUESTIONS)


def seeds(count: int) -> list[int]:
    return [seed(str(number)) for number in range(count)]


def logits(model: TransformerModel) -> torch.Tensor:
    """Of the first token of a reply, as one row."""
    with torch.inference_mode():
        return model.model(torch.tensor([model.encoder.encode_prompts([PROMPTS[0]])[0]])).logits[:, -1].float()


def first_words(model: TransformerModel, count: int = 2000) -> list[int]:
    """The first tokens of so many replies to one prompt; marks, which have no text, are the first of them."""
    asked = [Question(kind="generate", prompt=PROMPTS[0], repeat=repeat) for repeat in range(count)]
    tokenizer = model.encoder.tokenizer
    return [tokenizer.convert_tokens_to_ids(each.text or "<pad>") for each in completions(model, asked)]


def by_word(model: TransformerModel, scores: torch.Tensor) -> torch.Tensor:
    """Probabilities of tokens, with those of all marks at the first."""
    shares, marks = scores[0].softmax(-1), model.encoder.tokenizer.all_special_ids
    total = shares[marks].sum()
    shares[marks] = 0
    shares[0] = total
    return shares


def agree(drawn: list[int], shares: torch.Tensor) -> bool:
    """Whether numbers were drawn with these probabilities."""
    counts, possible = torch.bincount(torch.tensor(drawn), minlength=len(shares)), shares > 0
    expected = shares[possible].double() / shares.sum() * len(drawn)
    assert expected.min() > 4
    test = chisquare(counts[possible], expected, sum_check=False)
    return bool(counts[~possible].sum() == 0 and test.pvalue > 0.01)


def test_a_reply_is_the_same_alone_and_in_a_batch(folder: Path) -> None:
    alone = completions(opened(folder, batch_size=1), QUESTIONS)
    together = replies(folder)
    backwards = completions(opened(folder, batch_size=5), QUESTIONS[::-1])[::-1]
    assert [each.text for each in together] == [each.text for each in alone]
    assert backwards == together


def test_repeats_and_prompts_differ(folder: Path) -> None:
    texts = [each.text for each in replies(folder)]
    assert len(set(texts)) == len(QUESTIONS)


def test_a_batch_halved_for_want_of_memory_gives_the_same_replies(folder: Path) -> None:
    small = opened(folder)
    small.memory.ceiling = 60
    assert [each.text for each in completions(small, QUESTIONS)] == [each.text for each in replies(folder)]


def test_a_longer_reply_begins_like_a_shorter_one(folder: Path) -> None:
    longer = replies(folder, Generation(max_new_tokens=9, temperature=0.8))
    pairs = [(one.text or "", other.text or "") for one, other in zip(replies(folder), longer, strict=True)]
    assert all(longer.startswith(shorter) for shorter, longer in pairs)


def test_no_temperature_is_greedy(folder: Path) -> None:
    for unset in (Generation(max_new_tokens=6, temperature=None), Generation(max_new_tokens=6, top_p=0.5)):
        assert replies(folder, unset) == replies(folder, GREEDY)
    assert len({each.text for each in replies(folder, GREEDY)}) <= len(PROMPTS)


def test_a_tiny_temperature_is_as_good_as_greedy(folder: Path) -> None:
    assert replies(folder, Generation(max_new_tokens=6, temperature=1e-6)) == replies(folder, GREEDY)


@pytest.mark.parametrize("temperature", [0.1, 1.0])
def test_first_tokens_come_as_often_as_the_model_says(folder: Path, temperature: float) -> None:
    model = opened(folder, Generation(max_new_tokens=1, temperature=temperature), batch_size=500)
    assert agree(first_words(model), by_word(model, logits(model) / temperature))


@pytest.mark.parametrize("spread", [0.2, 0.5])
def test_tokens_beyond_the_candidates_come_as_often_as_they_should(spread: float) -> None:
    scores = torch.randn(1600, generator=torch.Generator().manual_seed(1)).sort(descending=True).values * spread
    keys = torch.tensor(seeds(3000)).unsqueeze(-1)
    drawn = draw_tokens(scores.expand(len(keys), -1), keys).flatten()
    # Single tokens are too rare to be counted: groups of neighbours, the last six beyond the candidates.
    shares = scores.softmax(-1).unflatten(0, (16, 100)).sum(-1)
    assert agree((drawn // 100).tolist(), shares)


def test_steps_are_drawn_apart() -> None:
    sampler = Sampler([seed("a")], start=3, temperature=1.0, top_p=None)
    tokens = [int(sampler(torch.zeros(1, 3 + step), torch.zeros(1, 7)).argmax()) for step in range(2000)]
    pairs = [7 * one + other for one, other in pairwise(tokens)]
    assert agree(pairs, torch.full((49,), 1 / 49))


@pytest.mark.parametrize("top_p", [0.01, 0.3, 0.9, 0.97])
@pytest.mark.parametrize("looked_at", [10, 1000])
def test_the_nucleus_is_that_of_transformers(top_p: float, looked_at: int) -> None:
    scores = torch.randn(20, 3000, generator=torch.Generator().manual_seed(2)) * 3
    wanted = TopPLogitsWarper(top_p)(None, scores)
    assert torch.equal(keep_nucleus(scores, top_p, looked_at=looked_at), wanted)


def test_equally_likely_tokens_share_their_fate() -> None:
    kept = keep_nucleus(torch.tensor([[1.0, 2.0, 1.0, 0.0]]), 0.7)
    assert kept.isfinite().tolist() == [[True, True, True, False]]


def test_top_p_restricts_replies(folder: Path) -> None:
    model = opened(folder, Generation(max_new_tokens=1, temperature=1.0, top_p=0.3), batch_size=500)
    shares = by_word(model, TopPLogitsWarper(0.3)(None, logits(model)))
    assert 1 < int((shares > 0).sum()) < 12
    assert agree(first_words(model), shares)


PUBLISHED = [6457827717110365317, 3203168211198807973, 9817491932198370423]
"""The first numbers of SplitMix64 for seed 1234567."""


def test_the_generator_gives_its_published_numbers() -> None:
    drawn = splitmix(torch.tensor([1234567]), torch.tensor([1, 2, 3]))
    assert [value % (1 << 64) for value in drawn.tolist()] == PUBLISHED


def test_the_noise_of_a_token_does_not_depend_on_the_tokens_beside_it() -> None:
    keys = torch.tensor([[seed("a")], [seed("b")]])
    assert torch.equal(
        make_gumbel_noise(keys[1:], torch.tensor([7, 3])), make_gumbel_noise(keys, torch.arange(8))[1:, [7, 3]]
    )
