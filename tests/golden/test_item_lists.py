"""What the bundled lists are made into changes with the version of item_order, and never without it.

`python -m tests.golden.test_item_lists` writes down what there is.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from contrapose.tasks.config.data_settings import DataSettings
from contrapose.tasks.core.records import ItemSample
from contrapose.tasks.load.samples import load_samples
from contrapose.tasks.probes.base import make_sample_rng
from contrapose.tasks.probes.item_order import ItemOrder, ItemOrderSettings
from tests.golden.outputs import digest

RECORDED = Path(__file__).parent / "item_lists.json"
PROBE = ItemOrder()
WAYS = {
    "cyclic": {},
    "sampled": {"orders": "sample", "count": 2, "layout": "bullets"},
    "paragraphs": {"layout": "paragraphs", "heading": "Passage"},
}


def prompts() -> Iterator[tuple[str, list[str | None]]]:
    """The place of every sample under each way, with its prompts and that of its control."""
    samples = load_samples(DataSettings(source=PROBE.bundled_data), ItemSample, limit=None, seed=0).samples
    for name, values in WAYS.items():
        settings = ItemOrderSettings.model_validate(values)
        for sample in samples:
            rng, other = (make_sample_rng(0, sample.id, part) for part in ("item_order", "item_order/control"))
            cases = PROBE.cases(sample, settings, rng=rng, likelihoods="none")
            twin = PROBE.control(cases[0], sample, settings, rng=other)
            asked = [case.perturbed_prompt for case in cases]
            yield f"{name}/{sample.id}", [cases[0].original_prompt, *asked, twin and twin.perturbed_prompt]


def made() -> dict[str, str]:
    return {"version": PROBE.version, **{place: digest(output) for place, output in prompts()}}


def test_a_list_is_asked_as_before_or_the_version_is_raised() -> None:
    assert made() == json.loads(RECORDED.read_text())


if __name__ == "__main__":
    RECORDED.write_text(json.dumps(made(), indent=1) + "\n")
