"""Noise: published numbers, and of the distribution that it is named after."""

from __future__ import annotations

import torch

from contrapose.tasks.infer.local.replies import gumbel, seed, splitmix

PUBLISHED = [6457827717110365317, 3203168211198807973, 9817491932198370423]
"""The first numbers of SplitMix64 for seed 1234567."""


def test_the_generator_gives_its_published_numbers() -> None:
    drawn = splitmix(torch.tensor([1234567]), torch.tensor([1, 2, 3]))
    assert [value % (1 << 64) for value in drawn.tolist()] == PUBLISHED


def test_the_noise_of_a_token_does_not_depend_on_the_tokens_beside_it() -> None:
    keys = torch.tensor([[seed("a")], [seed("b")]])
    assert torch.equal(gumbel(keys[1:], torch.tensor([7, 3])), gumbel(keys, torch.arange(8))[1:, [7, 3]])
