"""`contrapose shrink` and `contrapose.shrink`: the shortest prompt of a failed case, in the terminal and the report."""

from __future__ import annotations

import doctest
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from databases import sqlite
from fake_endpoint import Endpoint
from finished import rows_from, write_run
from report.paged import opened

import contrapose
from contrapose.flows.cli import main
from contrapose.tasks.store.opening import open_receipts

LONG = "Please say when the <b>ferry</b> leaves. The harbour of the town is large. Damn the late boat to the island."
ROWS = pd.DataFrame(
    {
        "id": ["long", "short", "luck"],
        "text": [LONG, "Where is the lake?", "Who owns the MILL?"],
        "options": [["<i>A pier</i>", "a fucking bridge"]] * 3,
    }
)


class Answer:
    """Replies that flip where a changed prompt holds two planted words; to one case they flip once."""

    def __init__(self) -> None:
        self.prompts: list[str] = []

    def __call__(self, prompt: str) -> str:
        self.prompts.append(prompt)
        if "mill" in prompt:
            return "B" if self.prompts.count(prompt) == 1 else "A"
        # Only a changed prompt has no capital letter here.
        return "B" if "ferry" in prompt and "damn" in prompt else "A"


@pytest.fixture(scope="module")
def answered(prefect_server: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Answer]]:
    """The folder of a run of a function, and the function; the store of the run is in use."""
    folder, answer = tmp_path_factory.mktemp("shrink"), Answer()
    with pytest.MonkeyPatch.context() as patch:
        url = sqlite(folder)
        patch.setenv("CONTRAPOSE_STORE", url)
        patch.chdir(folder)
        run = contrapose.evaluate(
            model=answer, revision="1", data=ROWS, test=["casing", "option_order"], out=folder / "runs", quiet=True
        )
        yield run.folder, answer
        open_receipts(url).close()


@pytest.fixture
def answer(answered: tuple[Path, Answer]) -> Answer:
    answered[1].prompts.clear()
    return answered[1]


@pytest.fixture
def run(answered: tuple[Path, Answer], tmp_path: Path) -> Path:
    """A copy of the folder of the run."""
    return Path(shutil.copytree(answered[0], tmp_path / answered[0].name))


def shrunk(run: Path, case: str, answer: Any, **arguments: Any) -> contrapose.ShortestPrompt:
    return contrapose.shrink(run, case, model=answer, quiet=True, **arguments)


def refused(run: Path | str, case: str, answer: Any, **arguments: Any) -> str:
    with pytest.raises(contrapose.ContraposeError) as caught:
        contrapose.shrink(run, case, model=answer, quiet=True, **arguments)
    return str(caught.value)


def test_shortest_prompt_holds_the_planted_words_alone(run: Path, answer: Answer) -> None:
    found = shrunk(run, "casing/long", answer)
    assert (found.text, found.changed) == ("<b>ferry</b> Damn", "<b>ferry</b> damn")
    assert (found.before, found.after) == ("A. <i>A pier</i>", "B. a fucking bridge")
    assert (found.words, found.of, found.repeats, found.stopped) == (2, 20, 3, None)


def test_second_shrink_makes_no_call(run: Path, answer: Answer) -> None:
    shrunk(run, "casing/long", answer)
    answer.prompts.clear()
    assert shrunk(run, "casing/long", answer).calls == 0
    assert answer.prompts == []


def test_id_of_the_sample_names_its_only_failure(run: Path, answer: Answer) -> None:
    assert shrunk(run, "luck", answer, repeats=1).case_id == "casing/luck"


def test_report_shows_it_once_escaped_and_masked(run: Path, answer: Answer) -> None:
    for _ in range(2):
        shrunk(run, "casing/long", answer)
    page = (run / "report.html").read_text("utf-8")
    (section,) = re.findall(r'<section id="shortest".*?</section>', page, re.DOTALL)
    assert "&lt;b&gt;ferry&lt;/b&gt;" in section
    assert "<b>" not in section
    assert "f******" in section
    assert "fucking" not in section
    assert 'data-test="casing" data-sample="long" data-number=""' in section
    assert section.count("<article") == 1


def test_folder_of_the_run_keeps_every_shortest_prompt(run: Path, answer: Answer) -> None:
    for case, repeats in (("casing/long", 3), ("casing/luck", 1)):
        shrunk(run, case, answer, repeats=repeats)
    assert [*json.loads((run / "shortest.json").read_text())] == ["casing/long", "casing/luck"]
    assert (run / "report.html").read_text("utf-8").count('<article class="hero" data-test') == 2


def test_spent_budget_gives_the_shortest_prompt_so_far(run: Path, answer: Answer) -> None:
    own = write_copy(run, revision="spent")
    found = shrunk(own, "casing/long", answer, max_calls=10, repeats=1)
    assert found.calls == len(answer.prompts) == 10
    assert "max_calls = 10" in str(found.stopped)
    assert 2 < found.words < 20


def test_budget_for_no_check_is_refused(run: Path, answer: Answer) -> None:
    own = write_copy(run, revision="none")
    assert "Raise --max-calls" in refused(own, "casing/long", answer, max_calls=1)


def write_copy(run: Path, *, revision: str) -> Path:
    """Give the run another version of its function, of which no answer is cached."""
    manifest = json.loads((run / "manifest.json").read_text())
    manifest["config"]["model_args"]["revision"] = revision
    (run / "manifest.json").write_text(json.dumps(manifest))
    return run


def test_failure_that_does_not_repeat_is_called_noise(run: Path, answer: Answer) -> None:
    assert "it failed by noise: asked again, its answer stays" in refused(run, "casing/luck", answer)


@pytest.mark.parametrize(
    ("case", "says"),
    [
        ("casing/short", "casing/short did not fail"),
        ("casing/lnog", "casing/lnog was not asked; expected one case that failed. Did you mean 'casing/long'?"),
        ("option_order/long/1", "option_order has no edit that keeps the answer"),
    ],
)
def test_case_that_cannot_be_shrunk_is_refused(run: Path, answer: Answer, case: str, says: str) -> None:
    assert says in refused(run, case, answer)
    assert answer.prompts == []


def test_unknown_run_is_refused(answer: Answer) -> None:
    assert "no such folder, and no run of that id in runs" in refused("nowhere", "casing/long", answer)


def test_no_repeat_is_refused(run: Path, answer: Answer) -> None:
    assert "repeats: 0; expected 1 or more" in refused(run, "casing/long", answer, repeats=0)


def test_function_must_be_passed(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["shrink", str(run), "casing/long"]) == 2
    assert "Call contrapose.shrink(run, case, model=function)" in capsys.readouterr().err


def test_another_model_than_that_of_the_run_is_refused(tmp_path: Path, answer: Answer) -> None:
    folder = write_run(tmp_path / "run", rows_from([False]))
    assert "the model of the run is mock; expected no other model" in refused(folder, "s0", answer)


@pytest.mark.parametrize(
    ("config", "says"),
    [
        ({"model": "recorded/replies.jsonl"}, "the replies are a recording"),
        ({"model": "openai/m", "batch_api": True}, "the prompts went through a batch API"),
    ],
)
def test_model_that_does_not_answer_at_once_is_refused(
    tmp_path: Path, config: dict[str, Any], says: str, answered: object
) -> None:
    folder = write_run(tmp_path / "run", rows_from([False]), model=config["model"], config=config)
    assert says in refused(folder, "s0", None)


def test_test_that_changed_since_is_refused(run: Path, answer: Answer) -> None:
    manifest = json.loads((run / "manifest.json").read_text())
    manifest["config"]["tests"]["robustness"]["casing"]["style"] = "upper"
    (run / "manifest.json").write_text(json.dumps(manifest))
    assert "casing now makes another prompt of this case" in refused(run, "casing/long", answer)


BOT = """
def answer(prompt):
    return "B" if "ferry" in prompt else "A"
"""
APP_ROWS = '{"id": "q", "text": "When does the next Ferry leave the old town?", "options": ["at 9", "at 10"]}\n'


@pytest.mark.slow
@pytest.mark.usefixtures("prefect_server", "own_store")
def test_command_shrinks_a_case_of_an_application(in_tmp: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (in_tmp / "bot.py").write_text(BOT)
    (in_tmp / "rows.jsonl").write_text(APP_ROWS)
    command = ["run", "--model", "app/bot:answer", "--data", "rows.jsonl", "--test", "casing", "--exit-zero", "-q"]
    assert main(command) == 0
    (run,) = Path("runs").glob("[!.]*")
    capsys.readouterr()
    assert main(["shrink", run.name, "q", "--repeats", "1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["text"], found["stopped"]) == ("Ferry", None)
    assert main(["shrink", run.name, "q", "--repeats", "1"]) == 0
    printed = capsys.readouterr().out
    assert "casing/q: 1 of 9 words still fails." in printed
    assert "  changed    ferry\n" in printed
    assert "0 calls. Report: runs/" in printed


@pytest.mark.slow
@pytest.mark.usefixtures("prefect_server", "own_store")
def test_command_asks_an_endpoint_and_counts_its_requests(
    in_tmp: Path, server: Endpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    server.says = lambda prompt: "B" if "ferry" in prompt else "A"
    (in_tmp / "rows.jsonl").write_text(APP_ROWS)
    address = f"model_args.base_url=http://127.0.0.1:{server.port}/v1"
    command = ["run", "--model", "openai/none", "--set", address, "--data", "rows.jsonl", "--test", "casing"]
    assert main([*command, "--exit-zero", "-q"]) == 0
    (run,) = Path("runs").glob("[!.]*")
    before = len(server.bodies)
    capsys.readouterr()
    assert main(["shrink", str(run), "q", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["text"] == "Ferry"
    assert found["calls"] == len(server.bodies) - before > 0
    assert main(["shrink", str(run), "q", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {**found, "calls": 0, "repeat_calls": 0}


def test_card_of_the_case_shows_it(browser: Any, run: Path, answer: Answer) -> None:
    shrunk(run, "casing/long", answer)
    with opened(browser, run / "report.html") as page:
        cards = page.page.locator("#rows tbody", has_text="Shortest prompt that still fails")
        assert cards.count() == 1
        assert "long" in cards.locator(".who").inner_text()
        assert page.faults == []


@pytest.mark.usefixtures("prefect_server", "own_store", "in_tmp")
def test_example_of_the_help_works() -> None:
    (example,) = doctest.DocTestFinder(recurse=False).find(contrapose.shrink, "shrink", module=False)  # type: ignore[arg-type]
    assert len(example.examples) == 5
    assert doctest.DocTestRunner().run(example).failed == 0
