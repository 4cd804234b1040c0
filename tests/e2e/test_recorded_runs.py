"""Recorded replies give the results that asking for them would have given, and nobody is asked."""

from __future__ import annotations

import json
import os
import subprocess
import sysconfig
import venv
from collections import Counter
from collections.abc import Collection
from pathlib import Path

import pandas as pd
import pytest
from fake_endpoint import Endpoint, serving
from newest_run import asking, results_of, write_rows

from bench.llmbar import FILE, rows
from contrapose.flows.cli import main
from contrapose.flows.cli.preview import load_previews
from contrapose.flows.orchestration.options import resolve_suite
from contrapose.tasks.infer.ask import list_questions

pytestmark = pytest.mark.usefixtures("prefect_server", "own_store", "in_tmp")

ORDERS = ("correct_first", "correct_second")
MOST_MISSED_PAIRS = 13
"""Of some 12,000: explanations whose letter we do not read, ten of them cut off in the middle of a sentence."""
ARGUMENTS = ("--suite", "full", "--limit", "6", "--out", "out")


def prompts(*, controls: bool, tests: tuple[str, ...]) -> list[str]:
    """What the tests would ask with `ARGUMENTS`, with or without their controls."""
    config, _ = resolve_suite("full", {"limit": 6, "model": "openai/m"})
    chosen = [preview for preview in load_previews(config) if preview.plan.test in tests]
    cases = [case for preview in chosen for portion in preview.cases() for case in portion]
    cases = [case for case in cases if case.skip_reason is None and (controls or not case.control)]
    return [question.prompt for question in list_questions(cases)]


def reply(prompt: str) -> str:
    """Something that every scorer can read, drawn by the prompt."""
    letter = "AB"[len(prompt) % 2]
    return f"Summary {letter} is better." if "Summary A" in prompt else f"{letter}. That is my answer."


def test_a_recorded_run_is_judged_as_if_it_were_asked(capsys: pytest.CaptureFixture[str]) -> None:
    tests = ("add_negation", "order_bias")
    rows = [{"prompt": prompt, "reply": reply(prompt)} for prompt in prompts(controls=False, tests=tests)]
    assert main(["run", "--recorded", write_rows("replies.jsonl", rows), *ARGUMENTS, "--set", "noise=0"]) in {0, 1, 3}
    judged, shown = results_of(), capsys.readouterr()
    assert "add_toxic_words: skipped" in shown.err
    assert "order_bias: controls: 6 not recorded" in " ".join(shown.out.split())
    assert f"{len(rows)} recorded replies" in " ".join(shown.out.split())
    without = [f"tests.{name}.control=false" for name in ("sensitivity.add_negation", "factuality.order_bias")]
    with serving(Endpoint(says=reply)) as endpoint:
        asked = asking(endpoint.port, *without, "tests.factuality.order_bias.read_with=reply")
        chosen = [word for name in tests for word in ("--test", name)]
        main(["run", *asked, *chosen, *ARGUMENTS, "--exit-zero"])
    pd.testing.assert_frame_equal(judged, results_of())


def pairs(shared_data: Path, ids: Collection[str]) -> Path:
    """Some of LLMBar's pairs, with the columns of summaries."""
    found = [json.loads(line) for line in (shared_data / "llmbar_pairs.jsonl").read_text().splitlines()]
    rows = (
        {
            "id": pair["id"],
            "article_sentence": pair["input"],
            "correct_sentence": pair[f"output_{pair['label']}"],
            "incorrect_sentence": pair[f"output_{3 - pair['label']}"],
        }
        for pair in found
        if pair["id"] in ids
    )
    return Path(write_rows("pairs.jsonl", rows))


def judged(arguments: list[str]) -> pd.DataFrame:
    assert main(["run", "--recorded", *arguments, "--out", "out", "--quiet"]) in {0, 1, 3, 4}
    return results_of()


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("form", ["reply", "as_summary"])
def test_llmbar_is_replayed_whole(form: str, shared_data: Path) -> None:
    """For every judge and strategy the counts are those of the data set, but for replies that it misreads."""
    if not (shared_data / FILE).exists():
        pytest.skip(f"{FILE} is not in ../shared/data")
    sides = ["--column", f"original={form}_correct_first", "--column", f"perturbed={form}_correct_second"]
    replies = {(row.model, row.strategy, row.id, row.order): row for row in rows(shared_data, form)}
    missed = 0
    for model, strategy in sorted({key[:2] for key in replies}):
        where = ["--where", f"model={model}", "--where", f"strategy={strategy}"]
        own = {key[2] for key in replies if key[:2] == (model, strategy)}
        suite = ["--suite", "full", "--test", "order_bias", "--data", str(pairs(shared_data, own)), "--skip-bad-rows"]
        read = judged([str(shared_data / FILE), *sides, *where, *suite])
        ours, theirs = Counter[str](), Counter[str]()
        for id_, outcome in zip(read["sample_id"], read["outcome"], strict=True):
            of_pair = [replies[model, strategy, id_, order] for order in ORDERS]
            letters = [row.label for row in of_pair]
            for place, row in enumerate(of_pair):
                if row.label != row.read and (row.apart or row.label is None):
                    # A person reads it as we do, or the data set has no letter: `bench.llmbar --list` lists each.
                    letters[place] = row.read
            theirs["".join(letter or "-" for letter in letters)] += 1
            ours[outcome if isinstance(outcome, str) else "-"] += 1
        whole = {outcome: theirs[outcome] for outcome in ("AB", "AA", "BB", "BA")}
        counted = {outcome: ours[outcome] for outcome in whole}
        print(f"{model} {strategy}: {counted}")
        missed += sum((Counter(whole) - Counter(counted)).values())
        assert not Counter(counted) - Counter(whole), (model, strategy)
    assert missed <= MOST_MISSED_PAIRS


TOOLS = ("inspect-ai==0.3.285", "lm-eval[api]==0.4.13")
INSPECT = """
import json, sys
from inspect_ai import Task, eval as ask_with_inspect
from inspect_ai.dataset import Sample
from inspect_ai.solver import generate

prompts, url, form = json.load(open("prompts.json")), sys.argv[1], sys.argv[2]
samples = [Sample(id=str(number), input=prompt, target="") for number, prompt in enumerate(prompts)]
task = Task(dataset=samples, solver=generate())
plain = {"responses_api": False}
[log] = ask_with_inspect(task, model="openai/m", model_base_url=url, model_args=plain, log_dir="logs",
    log_format=form, display="none")
assert log.status == "success", log.error.message
"""
TASK = """
task: prompts
dataset_path: json
dataset_kwargs: {data_files: {test: prompts.jsonl}}
test_split: test
output_type: generate_until
doc_to_text: "{{prompt}}"
doc_to_target: ""
generation_kwargs: {until: ["never said"], max_gen_toks: 32}
metric_list: [{metric: bypass}]
"""


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An interpreter with Inspect and lm-eval, which see the packages of this one too."""
    folder = tmp_path_factory.mktemp("tools")
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    own = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        check=True,
        capture_output=True,
        text=True,
    )
    (Path(own.stdout.strip()) / "shared.pth").write_text(sysconfig.get_path("purelib"))
    done = subprocess.run([python, "-m", "pip", "install", "-q", *TOOLS], capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"{', '.join(TOOLS)} cannot be installed here: {done.stderr[-300:]}")
    return python


def by_inspect(python: Path, url: str, form: str) -> str:
    """Have Inspect ask; the log that it wrote."""
    command = [str(python), "-c", INSPECT, url, form]
    subprocess.run(command, check=True, env={**os.environ, "OPENAI_API_KEY": "none"}, timeout=240)
    return str(next(Path("logs").glob(f"*.{form}")))


def by_harness(python: Path, url: str) -> str:
    """Have lm-eval ask; the samples that it wrote."""
    Path("prompts.yaml").write_text(TASK)
    model = ["--model", "local-chat-completions", "--model_args", f"model=m,base_url={url}/chat/completions"]
    task = ["--tasks", "prompts", "--include_path", ".", "--output_path", "out_of_lm_eval", "--log_samples"]
    command = [str(python), "-m", "lm_eval", "run", *model, *task, "--apply_chat_template"]
    subprocess.run(command, check=True, env={**os.environ, "OPENAI_API_KEY": "none"}, timeout=240)
    return str(next(Path("out_of_lm_eval").rglob("samples_prompts_*.jsonl")))


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("written_by", ["Inspect, packed", "Inspect, JSON", "lm-eval"])
def test_what_other_tools_wrote_is_judged_without_a_call(written_by: str, tools: Path) -> None:
    tests = ("add_negation", "order_bias")
    wanted = prompts(controls=True, tests=tests)
    Path("prompts.json").write_text(json.dumps(wanted))
    write_rows("prompts.jsonl", [{"prompt": prompt} for prompt in wanted])
    with serving(Endpoint(says=reply)) as endpoint:
        if written_by == "lm-eval":
            path = by_harness(tools, f"http://127.0.0.1:{endpoint.port}/v1")
        else:
            path = by_inspect(
                tools, f"http://127.0.0.1:{endpoint.port}/v1", "json" if written_by.endswith("JSON") else "eval"
            )
        before = len(endpoint.requests)
        recorded = judged([path, *ARGUMENTS[:4]])
        assert len(endpoint.requests) == before >= len(wanted)
        write_rows("replies.jsonl", [{"prompt": prompt, "reply": reply(prompt)} for prompt in wanted])
        pd.testing.assert_frame_equal(recorded, judged(["replies.jsonl", *ARGUMENTS[:4]]))
    assert set(recorded["test_type"]) == set(tests)
    assert recorded["control"].any()
