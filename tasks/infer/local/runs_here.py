"""What all providers have in common whose models run on this machine, through transformers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from contrapose.tasks.model_spec import ModelSpec
from contrapose.tasks.prices import FREE, Price
from contrapose.tasks.provider import Argument
from contrapose.tasks.records import Likelihoods


class RunsHere:
    """Facts about such a provider."""

    cases_per_task: ClassVar[int] = 5000
    local: ClassVar[bool] = True
    knows_weights: ClassVar[bool] = True
    concurrency: ClassVar[int] = 1
    arguments: ClassVar[Mapping[str, Argument]] = {
        "revision": Argument(type="text", description="Branch, tag or commit of a model on the hub."),
        "dtype": Argument(type="text", description="Number type: float32, bfloat16, float16.", default="auto"),
        "device": Argument(type="text", description="Where it runs: cpu, cuda, cuda:1, mps.", default="auto"),
    }

    def price(self, spec: ModelSpec) -> Price:
        """Nothing."""
        return FREE

    def likelihoods(self, spec: ModelSpec) -> Likelihoods:
        """Those of any text."""
        return "all"
