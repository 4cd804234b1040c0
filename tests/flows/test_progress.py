"""Progress: what the bar and the artifact say."""

from __future__ import annotations

import pytest
from prefect.client.orchestration import get_client

from contrapose.flows.cli import main
from contrapose.flows.progress import told
from contrapose.tasks.infer.meter import Meter


@pytest.mark.parametrize(
    ("meter", "words"),
    [
        (Meter(), "0 requests, 0 from the store"),
        (Meter(requests=1200, found=40), "1,200 requests, 40 from the store"),
        (Meter(requests=3, failed=1, cost=0.01234), "3 requests, 0 from the store, 1 failed, $0.0123"),
    ],
)
def test_what_the_answers_took_is_told(meter: Meter, words: str) -> None:
    assert told(meter) == words


@pytest.mark.usefixtures("prefect_server", "in_tmp", "own_store")
def test_the_artifact_ends_with_all_done_and_what_it_took() -> None:
    main(["run", "--model", "mock", "--test", "order_bias", "--limit", "9", "--exit-zero"])
    with get_client(sync_client=True) as client:
        found = [each for each in client.read_artifacts() if each.type == "progress"]
    last = max(found, key=lambda each: str(each.created))
    assert last.data == 100
    assert str(last.description).startswith("asking mock: 18 model calls; ")
    assert "latency p50" in str(last.description)
