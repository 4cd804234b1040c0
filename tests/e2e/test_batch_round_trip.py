"""Five thousand prompts by batch, with failures and a kill: the results of asking, and nothing paid twice."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from batch_server import BatchServer, asked_in
from fake_endpoint import Endpoint, serving, serving_this
from newest_run import asking, newest
from own_process import start_command

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900), pytest.mark.usefixtures("prefect_server")]

SUITE = """
suite: batch
tests:
  sensitivity:
    add_negation: {{data: {data}/openbookqa_test.jsonl}}
    add_toxic_words: {{data: {data}/wiki_test.jsonl}}
  factuality:
    order_bias: {{data: {data}/factual_summary_pairs.jsonl}}
    option_order: {{data: {data}/openbookqa_test.jsonl}}
"""


class House:
    """A store, a suite, and commands as processes of their own."""

    def __init__(self, folder: Path, endpoint: Endpoint, data: Path) -> None:
        self.folder, self.endpoint = folder, endpoint
        folder.mkdir()
        (folder / "suite.yaml").write_text(SUITE.format(data=data))

    def does(self, *words: str) -> tuple[int, str]:
        process = start_command(*words, folder=self.folder)
        out, error = process.communicate()
        assert "Traceback" not in error, error
        return process.returncode, out + error

    def configured(self, *words: str) -> list[str]:
        return [*words, "--suite", "suite.yaml", *asking(self.endpoint.port)]

    def results(self) -> pa.Table:
        code, said = self.does(*self.configured("run", "--out", "runs"), "--exit-zero")
        assert code == 0, said
        return pq.read_table(newest(self.folder / "runs", "results.parquet")).replace_schema_metadata()


@pytest.fixture
def server() -> Iterator[BatchServer]:
    with serving_this(BatchServer(failing=0.03)) as endpoint:
        yield endpoint


def test_five_thousand_prompts(server: BatchServer, shared_data: Path, tmp_path: Path) -> None:
    house = House(tmp_path / "batch", server, shared_data)
    server.delay_made = 60
    killed = start_command(*house.configured("batch", "submit"), folder=house.folder)
    while not server.batches:
        assert killed.poll() is None, killed.communicate()
        time.sleep(0.05)
    killed.kill()
    killed.communicate()
    server.delay_made = 0
    assert house.does(*house.configured("batch", "submit"))[0] == 0
    assert len(server.batches) == 1
    code, said = house.does("batch", "collect")
    print(said)
    assert code == 4
    # What failed goes into a second batch, alone.
    assert house.does(*house.configured("batch", "submit"))[0] == 0
    house.does("batch", "collect", "--wait", "--every", "0.1")
    lines = [json.loads(line) for name in sorted(server.files) for line in server.files[name].splitlines()]
    answered = [line["custom_id"] for line in lines if line.get("response", {}).get("status_code") == 200]
    assert len(server.paid) >= 5_000
    assert len(set(answered)) == len(answered)
    failed_twice = len(server.paid) - len(answered)
    assert failed_twice < 20
    by_batch = house.results()
    prompts = {line["custom_id"]: asked_in(line["body"]) for line in lines if "body" in line}
    asked_again = {prompts[key] for key in answered} & set(server.asked)
    print(f"{len(server.paid):,} prompts, {len(answered):,} answered by batch, {sum(server.asked.values()):,} beside")
    assert asked_again == set()
    with serving() as other:
        assert House(tmp_path / "asked", other, shared_data).results().equals(by_batch)
