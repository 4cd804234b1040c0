"""What golden texts are made into changes with the version of the probe, and never without it."""

from __future__ import annotations

import pytest

from contrapose.tasks.core.registry import probe
from tests.golden.outputs import SOME_STIRRED, STIRRED, WAYS, digest, outputs, recorded

WRITE = "python -m tests.golden.outputs writes them anew"


@pytest.mark.parametrize("count", [SOME_STIRRED, pytest.param(STIRRED, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", WAYS)
def test_a_text_is_changed_as_before_or_the_version_of_the_probe_is_raised(name: str, count: int) -> None:
    before, version = recorded()[name], probe(WAYS[name][0]).version
    assert before.pop("version") == version, f"the outputs that are recorded are those of another version; {WRITE}"
    now = dict(outputs(name, count=count))
    tried = {place for place in before if "/stirred/" not in place or int(place.rpartition("/")[2]) < count}
    assert tried == now.keys(), f"there are other texts than before; {WRITE}"
    other = {place: output for place, output in now.items() if digest(output) != before[place]}
    assert not other, (
        f"{len(other)} of {len(now)} texts come out otherwise: raise the version of {WAYS[name][0]}; {WRITE}"
    )


def test_no_output_is_recorded_of_a_way_that_is_gone() -> None:
    assert recorded().keys() == WAYS.keys()
