"""Two runs at once on one store: nothing lost, nothing asked twice, the same results."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from fake_endpoint import serving
from prefect.settings import PREFECT_API_URL

from contrapose.tasks.infer.store import open_housekeeping, open_runs

LATENCY = 0.05


@pytest.mark.usefixtures("prefect_server")
@pytest.mark.parametrize("takes", ["", "json_schema"])
def test_two_processes_share_the_work(store: str, tmp_path: Path, takes: str) -> None:
    with serving() as endpoint:
        endpoint.delay, endpoint.takes = LATENCY, (takes,)
        runs = [
            subprocess.Popen(
                [
                    *(sys.executable, "-m", "contrapose.flows.cli", "run", "--model", "openai/any", "--limit", "60"),
                    *("--test", "order_bias", "--exit-zero", "--out", str(tmp_path / name)),
                    *("--set", f"model_args.base_url=http://127.0.0.1:{endpoint.port}/v1"),
                    *("--set", "model_args.concurrency=2"),
                ],
                env={
                    **os.environ,
                    "CONTRAPOSE_STORE": store,
                    "CONTRAPOSE_HOME": str(tmp_path / f"home-{name}"),
                    "PREFECT_API_URL": str(PREFECT_API_URL.value()),
                },
                stdout=subprocess.DEVNULL,
            )
            for name in ("one", "two")
        ]
        assert [run.wait(280) for run in runs] == [0, 0]
    prompts = len(endpoint.asked)
    assert prompts >= 60
    assert set(endpoint.asked.values()) == {1}
    assert sum(held.answers for held in open_housekeeping().held()) == prompts
    first, second = (next((tmp_path / name).glob("[!.]*/results.parquet")).read_bytes() for name in ("one", "two"))
    assert first == second
    assert open_runs().unfinished() == []
