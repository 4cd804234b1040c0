"""Replies of a causal language model, greedy or sampled, a batch at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from contrapose.tasks.infer.local.memory import Memory
from contrapose.tasks.infer.local.prompting import Encoder
from contrapose.tasks.infer.local.sampling import Sampler
from contrapose.tasks.model_spec import Generation
from contrapose.tasks.records import Completion, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """What a reply is written to."""

    ids: list[int]
    """Tokens that are read."""
    seed: int
    """64 bits that a sampled reply is drawn with; a greedy one needs none."""


class Replies:
    """Writes replies.

    Args:
        model: a causal language model, in eval mode, on its device.
        encoder: its tokenizer.
        generation: reply length, stops and temperature; without one decoding is greedy.
        memory: what is known of the model's memory.
    """

    def __init__(self, model: Any, encoder: Encoder, generation: Generation, memory: Memory) -> None:
        self.model, self.encoder, self.generation, self.memory = model, encoder, generation, memory

    def compute(self, prompts: Sequence[Prompt]) -> list[Completion]:
        """Replies to prompts of similar length, in order.

        Raises:
            TooLargeError: one prompt alone does not fit in memory.
        """
        return self.memory.run(prompts, self._batch, size=self._size)

    def _size(self, prompts: Sequence[Prompt]) -> int:
        return len(prompts) * (max(len(prompt.ids) for prompt in prompts) + self.generation.max_new_tokens)

    def _batch(self, prompts: Sequence[Prompt]) -> list[Completion]:
        import torch

        width = max(len(prompt.ids) for prompt in prompts)
        gaps = [width - len(prompt.ids) for prompt in prompts]
        # On the left, so that every reply starts in the same column.
        padded = [[self.encoder.pad_id] * gap + prompt.ids for gap, prompt in zip(gaps, prompts, strict=True)]
        mask = [[0] * gap + [1] * (width - gap) for gap in gaps]
        with torch.inference_mode():
            output = self.model.generate(
                input_ids=torch.tensor(padded, device=self.model.device),
                attention_mask=torch.tensor(mask, device=self.model.device),
                max_new_tokens=self.generation.max_new_tokens,
                # Its own way of sampling draws for a batch as a whole.
                do_sample=False,
                temperature=None,
                top_p=None,
                top_k=None,
                pad_token_id=self.encoder.pad_id,
                logits_processor=self._sampling(prompts, width),
                stopping_criteria=self._stopping(width),
            )
        written = output[:, width:].tolist()
        return [self._decoded(len(prompt.ids), tokens) for prompt, tokens in zip(prompts, written, strict=True)]

    def _sampling(self, prompts: Sequence[Prompt], width: int) -> Any:
        """Chooses the tokens of sampled replies, which start after `width` tokens."""
        from transformers import LogitsProcessorList

        temperature, top_p = self.generation.temperature, self.generation.top_p
        if not temperature:
            return LogitsProcessorList()
        seeds = [prompt.seed for prompt in prompts]
        return LogitsProcessorList([Sampler(seeds, start=width, temperature=temperature, top_p=top_p)])

    def _stopping(self, width: int) -> Any:
        """Ends each row whose reply holds a stop. Replies start after `width` tokens."""
        import torch
        from transformers import StoppingCriteriaList

        def stopped(ids: Any, _: Any) -> Any:
            texts = self.encoder.tokenizer.batch_decode(ids[:, width:], skip_special_tokens=True)
            found = [any(stop in text for stop in self.generation.stop) for text in texts]
            return torch.tensor(found, device=ids.device)

        return StoppingCriteriaList([stopped] if self.generation.stop else [])

    def _decoded(self, prompt_tokens: int, written: list[int]) -> Completion:
        text = self.encoder.tokenizer.decode(written, skip_special_tokens=True)
        for stop in self.generation.stop:
            text = text.partition(stop)[0]
        ends = self._end_ids()
        count = next((place for place, token in enumerate(written) if token in ends), len(written))
        return Completion(text=text, usage=Usage(calls=1, prompt_tokens=prompt_tokens, completion_tokens=count))

    def _end_ids(self) -> tuple[int, ...]:
        ends = self.model.generation_config.eos_token_id
        return (*(ends if isinstance(ends, list) else [ends]), self.encoder.pad_id)
