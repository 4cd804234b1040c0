"""Sampled replies that depend on the question alone: the likeliest token after noise that belongs to the question.

With Gumbel noise of its own added to each log-probability, the largest sum is at a token drawn from the softmax
(Maddison, Tarlow, Minka, "A* Sampling", NIPS 2014). The noise of a token is a function of question, step
and token, so a reply is the same alone, in any batch and when a run is resumed, wherever the model's logits are.
In 16-bit numbers a batch moves logits a little, and with them some replies, sampled or greedy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from contrapose.tasks.infer.local.noise import gumbel, splitmix

CANDIDATES = 1000
"""Tokens that are looked at one by one at every step; the others are drawn together first, which is as exact."""


class Sampler:
    """A logits processor that leaves each row one token, drawn for it.

    Args:
        seeds: of the rows' questions, 64 bits each.
        start: tokens before the replies.
        temperature: what logits are divided by, above 0.
        top_p: share of the probability that the likeliest tokens must have together to be the only ones; None: all.
    """

    def __init__(self, seeds: Sequence[int], *, start: int, temperature: float, top_p: float | None) -> None:
        self.seeds, self.start, self.temperature, self.top_p = seeds, start, temperature, top_p

    def __call__(self, ids: Any, scores: Any) -> Any:
        """Scores of 0 for the drawn tokens and of minus infinity for all others.

        Args:
            ids: (rows, tokens so far).
            scores: (rows, vocabulary), logits.
        """
        import torch

        # Logits that a small temperature makes too large for float32 differ from the largest one only downwards.
        scaled = (scores - scores.amax(-1, keepdim=True)) / self.temperature
        if self.top_p is not None and self.top_p < 1:
            scaled = nucleus(scaled, self.top_p)
        seeds, step = (torch.tensor(each, device=scores.device) for each in (self.seeds, ids.shape[1] - self.start))
        keys = splitmix(seeds.unsqueeze(-1), step + 1)
        return torch.full_like(scores, -torch.inf).scatter_(-1, draw(scaled, keys), 0.0)


def draw(scores: Any, keys: Any) -> Any:
    """A token for each row from the softmax of its scores, as (rows, 1).

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
    drawn = tokens.gather(-1, (values + gumbel(keys, tokens)).argmax(-1, keepdim=True))
    among = drawn.squeeze(-1) == size
    if among.any():
        noise = gumbel(keys[among], torch.arange(size, device=scores.device))
        drawn[among] = (others[among] + noise).argmax(-1, keepdim=True)
    return drawn


def nucleus(scores: Any, top_p: float, *, looked_at: int = CANDIDATES) -> Any:
    """Scores with minus infinity outside the fewest likeliest tokens that have `top_p` of the probability.

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
        kept[open_ended] = nucleus(scores[open_ended], top_p, looked_at=size)
    return kept
