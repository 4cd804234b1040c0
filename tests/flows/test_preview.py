"""What would be asked, shown without asking: in a terminal, and as JSON."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from contrapose.flows.cli import main
from contrapose.flows.cli.preview import choose_evenly, format_previews, load_previews
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.config.suite_files import load_config

SKY = {"id": "sky", "text": "The sky is blue."}
NIGHT = {"id": "night", "text": "It is never dark."}
QUESTION = {"id": "q", "text": "A young cat is called a", "options": ["kitten", "calf", "cub"], "answer": "kitten"}


def rows(folder: Path, *found: dict[str, Any], name: str = "rows.jsonl") -> str:
    (folder / name).write_text("".join(json.dumps(row) + "\n" for row in found), encoding="utf-8")
    return name


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["preview", *arguments]) == 0
    return capsys.readouterr().out


def objects(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in printed(capsys, "--json", *arguments).splitlines()]


def config(**changes: Any) -> RunConfig:
    tests = {"sensitivity": {"add_negation": {}}}
    return RunConfig.model_validate({"tests": tests, **changes})


def test_counts_reasons_and_changes_are_shown(in_tmp: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "--test", "add_negation", "--data", rows(in_tmp, SKY, NIGHT))
    assert "2 samples: 1 changed, 1 skipped\n" in text
    assert "      1  nearly negated already, by a word such as 'hardly', 'never' or 'few'\n" in text
    assert "sky  high\n    The sky is {+not+} blue.\n" in text
    assert "never dark" not in text


def test_skipped_samples_are_shown_when_asked_for(in_tmp: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "--test", "add_negation", "--data", rows(in_tmp, SKY, NIGHT), "--skipped")
    assert "night  nearly negated already, by a word such as 'hardly'" in text
    assert "'few'\n    It is never dark.\n" in text
    assert "{+not+}" not in text


def test_every_test_is_shown_where_none_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "--show", "0")
    for name in ("add_negation  negation", "add_toxic_words  toxic_words", "order_bias  summary_pairs"):
        assert name in text
    assert "205 samples" in text


def test_toxic_words_are_masked(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("--test", "add_toxic_words", "--set", "tests.sensitivity.add_toxic_words.starting_context=[shit]")
    assert "shit" not in printed(capsys, *arguments)
    assert "{+shit+}" in printed(capsys, *arguments, "--show-toxic")


def test_json_has_one_object_per_sample_in_input_order(in_tmp: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sky, night = objects(capsys, "--probe", "add_negation", "--input", rows(in_tmp, SKY, NIGHT))
    assert sky == {
        "sample_id": "sky",
        "case_id": "add_negation/sky",
        "probe": "add_negation",
        "probe_version": sky["probe_version"],
        "changed": True,
        "skip_reason": None,
        "confidence": "high",
        "control": False,
        "wording": None,
        "original": "The sky is blue.",
        "perturbed": "The sky is not blue.",
        "edits": [{"start": 11, "end": 11, "new": "not "}],
        "original_prompt": "The sky is blue.",
        "perturbed_prompt": "The sky is not blue.",
        "options": [],
    }
    assert (night["changed"], night["perturbed"], night["edits"]) == (False, None, [])
    assert night["skip_reason"] == "semi_negative"


def test_json_is_not_limited_unless_asked(in_tmp: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = rows(in_tmp, *({"id": str(number), "text": f"Door {number} is open."} for number in range(450)))
    found = objects(capsys, "--probe", "add_negation", "--input", name)
    assert [each["sample_id"] for each in found] == [str(number) for number in range(450)]
    assert len(objects(capsys, "--probe", "add_negation", "--input", name, "--limit", "3")) == 3


def test_json_is_ascii_and_raw_where_toxic_words_are_shown(in_tmp: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = rows(in_tmp, {"id": "é", "text": "The café is full of shit."})
    text = printed(capsys, "--json", "--show-toxic", "--probe", "add_negation", "--input", name)
    assert text.isascii()
    assert json.loads(text)["original"] == "The café is full of shit."


def test_a_sample_with_several_cases_is_one_object(in_tmp: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (found,) = objects(capsys, "--probe", "option_order", "--input", rows(in_tmp, QUESTION))
    assert [each["case_id"] for each in found["cases"]] == ["option_order/q/1", "option_order/q/2"]
    assert found["case_id"] == "option_order/q/1"
    assert found["options"] == ["kitten", "calf", "cub"]


def test_a_preview_shows_the_cases_of_a_run() -> None:
    from contrapose.tasks.perturb.cases import build_cases, draw_further_ids

    config, _ = load_config("quickstart", {"seed": 3})
    for found in load_previews(config):
        samples = found.loaded.samples
        drawn = draw_further_ids((each.id for each in samples), found.plan, seed=3, likelihoods="all")
        built = build_cases(samples, found.plan, seed=3, likelihoods="all", besides=drawn)
        assert [case for cases in found.cases() for case in cases] == list(built)


def test_a_mistake_is_told_in_one_line(in_tmp: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["preview", "--json", "--probe", "add_negations"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "unknown probe 'add_negations'" in err
    assert len(err.splitlines()) == 1


def test_a_reader_who_stops_early_ends_it_quietly(in_tmp: Path) -> None:
    name = rows(in_tmp, *({"id": str(number), "text": f"Door {number} is open."} for number in range(3_000)))
    command = [sys.executable, "-m", "contrapose.flows.cli", "preview", "--probe", "add_negation", "--input", name]
    with subprocess.Popen([*command, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


def test_it_fits_a_narrow_terminal(in_tmp: Path) -> None:
    text = "The committee met every week and read many letters. " * 60 + "The last is 漢字 blue."
    found = load_previews(config(data={"source": rows(in_tmp, {"id": "long", "text": text})}))
    console = Console(width=40)
    text = "\n".join(format_previews(found, console=console, most=5, skipped=False, show_toxic=False))
    assert max(map(len, text.splitlines())) <= 40
    assert "{+not+}" in text


def test_colours_are_used_on_a_terminal_and_not_without(in_tmp: Path) -> None:
    found = load_previews(config(data={"source": rows(in_tmp, SKY)}))

    def shown(**settings: Any) -> str:
        console = Console(force_terminal=True, color_system="standard", **settings)
        return "".join(format_previews(found, console=console, most=1, skipped=False, show_toxic=False))

    assert "\x1b[1;32mnot\x1b[0m" in shown()
    assert "{+not+}" in shown(no_color=True)


def test_shown_samples_are_spread_over_the_data() -> None:
    assert choose_evenly(range(100), 4) == [0, 25, 50, 75]
    assert choose_evenly([3, 5], 4) == [3, 5]
    assert choose_evenly(range(100), 0) == []


SHOTS = [{"user": "Ice is\nA. cold\nB. hot\nAnswer:", "assistant": "A"}]


def test_all_that_is_sent_is_shown_with_the_change_marked(in_tmp: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (in_tmp / "own.j2").write_text("Exam.\n\n{{ text }}\n{{ options }}\nOne of {{ letters }}:\n")
    suite = {
        "model": "mock",
        "system_instruction": "Be brief.",
        "few_shot": SHOTS,
        "data": rows(in_tmp, NIGHT, QUESTION),
        "tests": {
            "sensitivity": {"add_negation": {"prompt_file": "own.j2", "labels": ["1", "2", "3"], "control": True}}
        },
    }
    (in_tmp / "suite.yaml").write_text(json.dumps(suite))
    text = printed(capsys, "--suite", "suite.yaml", "--prompt")
    _, _, shown = text.partition("is sent for add_negation/q, in its chat template if it has one:\n")
    options = "    1. kitten\n    2. calf\n    3. cub\n    One of 1, 2 or 3:\n"
    assert shown.startswith(
        "system\n    Be brief.\n"
        "user, example 1\n    Ice is\n    A. cold\n    B. hot\n    Answer:\n"
        "assistant, example 1\n    A\n"
        f"user, unchanged\n    Exam.\n\n    A young cat is called a\n{options}"
        f"user, changed\n    Exam.\n\n    A young cat is {{+not+}} called a\n{options}"
        "user, control\n    Exam.\n\n    A young cat is called a{+"
    )


def test_where_there_is_no_chat_one_text_is_shown(in_tmp: Path, capsys: pytest.CaptureFixture[str]) -> None:
    suite = {
        "model": "openai/x",
        "model_args": {"endpoint": "completions", "base_url": "http://127.0.0.1:9/v1"},
        "system_instruction": "Be brief.",
        "few_shot": SHOTS,
        "data": rows(in_tmp, SKY),
        "tests": {"sensitivity": {"add_negation": {}}},
    }
    (in_tmp / "suite.yaml").write_text(json.dumps(suite))
    text = printed(capsys, "--suite", "suite.yaml", "--prompt")
    before = "    Be brief.\n\n    Ice is\n    A. cold\n    B. hot\n    Answer: A\n\n    The sky is"
    assert f"\ntext, unchanged\n{before} blue.\ntext, changed\n{before} {{+not+}} blue.\n" in text
    assert "sent" not in objects(capsys, "--suite", "suite.yaml")[0]
    [sky] = objects(capsys, "--suite", "suite.yaml", "--prompt")
    assert sky["sent"]["perturbed"] == "Be brief.\n\nIce is\nA. cold\nB. hot\nAnswer: A\n\nThe sky is not blue."


def test_what_is_sent_is_masked_and_harmless(in_tmp: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shots = json.dumps([{"user": "shit \u001b[31m[bold]", "assistant": "fuck"}])
    arguments = ("--probe", "add_toxic_words", "--input", rows(in_tmp, SKY), "--prompt", "--set", f"few_shot={shots}")
    text = printed(capsys, *arguments)
    assert not {"shit", "fuck"} & set(text.split())
    assert "\x1b" not in text
    assert "[bold]" in text
    assert "fuck" in printed(capsys, *arguments, "--show-toxic")
