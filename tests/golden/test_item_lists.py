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
from contrapose.tasks.probes.base import rng_for
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
            rng, other = (rng_for(0, sample.id, part) for part in ("item_order", "item_order/control"))
            cases = PROBE.cases(sample, settings, rng=rng, likelihoods="none")
            twin = PROBE.control(cases[0], sample, settings, rng=other)
            asked = [case.perturbed_prompt for case in cases]
            yield f"{name}/{sample.id}", [cases[0].original_prompt, *asked, twin and twin.perturbed_prompt]


def made() -> dict[str, str]:
    return {"version": PROBE.version, **{place: digest(output) for place, output in prompts()}}


def test_a_list_is_asked_as_before_or_the_version_is_raised() -> None:
    assert made() == json.loads(RECORDED.read_text())


def test_a_whole_list_reads_as_it_should() -> None:
    place, asked = next(prompts())
    assert place == "cyclic/items-001"
    assert asked[1] == (
        "Here is a list. Answer the question below it.\n\n"
        "1. The ferry to Tarrholm leaves from pier 9 and takes 65 minutes. There is a café on board.\n"
        "2. The ferry to Brannoy leaves from pier 4 and takes 35 minutes. Bicycles travel free of charge.\n"
        "3. The ferry to Ostlund leaves from pier 7 and takes 50 minutes. Dogs must be on a lead.\n"
        "4. The ferry to Skerrick leaves from pier 5 and takes 15 minutes. Tickets are sold on deck.\n"
        "5. The ferry to Kvessen leaves from pier 2 and takes 20 minutes. It does not run in January.\n\n"
        "From which pier does the ferry to Kvessen leave?\nA. pier 4\nB. pier 7\nC. pier 2\nD. pier 9\nAnswer:"
    )


if __name__ == "__main__":
    RECORDED.write_text(json.dumps(made(), indent=1) + "\n")
