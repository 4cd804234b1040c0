"""LangTest configurations become suites; what has no counterpart is listed, and nothing is dropped in silence."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from contrapose.flows.cli import main
from contrapose.tasks.config.langtest_import import import_langtest
from contrapose.tasks.config.suite_files import load_config

WHOLE = """
task: question-answering
model: {model: gpt-4.1-mini, hub: openai}
data: {data_source: nobody-knows, split: test-tiny}
model_parameters: {max_tokens: 64, temperature: 0.2, user_prompt: x}
evaluation: {metric: embedding_distance, threshold: [-0.1, 0.1]}
tests:
  defaults: {min_pass_rate: 0.65}
  robustness:
    uppercase: {min_pass_rate: 0.66}
    lowercase: {min_pass_rate: 0.6}
    add_typo: {min_pass_rate: 0.7, parameters: {count: 2}}
    dyslexia_word_swap: {min_pass_rate: 0.6}
  bias: {replace_to_male_pronouns: {min_pass_rate: 0.6}}
  sensitivity: {add_negation: {min_pass_rate: 0.7}, toxicity: }
  factuality: {order_bias: {min_pass_rate: 0.7}}
"""


def test_a_whole_configuration_becomes_a_suite_that_loads(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "lt.yaml").write_text(WHOLE)
    assert main(["import-langtest", str(tmp_path / "lt.yaml"), "--out", str(tmp_path / "suite.yaml")]) == 0
    config, warnings = load_config(str(tmp_path / "suite.yaml"))
    assert warnings == []
    assert (config.suite, config.model, config.gen_kwargs.max_new_tokens) == ("lt", "openai/gpt-4.1-mini", 64)
    tests = yaml.safe_load((tmp_path / "suite.yaml").read_text())["tests"]
    assert tests["robustness"] == {"casing": {"min_pass_rate": 0.66, "style": "upper"}, "typo": {"min_pass_rate": 0.7}}
    assert tests["sensitivity"]["add_negation"] == {"min_pass_rate": 0.7, "threshold": [-0.1, 0.1]}
    notes = capsys.readouterr().err
    for left_out in (
        "task",
        "data.split",
        "data.data_source",
        "model_parameters.user_prompt",
        "evaluation.metric",
        "tests.robustness.lowercase",
        "tests.robustness.add_typo.count",
        "tests.robustness.dyslexia_word_swap",
        "tests.bias.replace_to_male_pronouns",
    ):
        assert f"lt.yaml: {left_out}" in notes


def test_a_file_is_never_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "lt.yaml").write_text(WHOLE)
    assert main(["import-langtest", str(tmp_path / "lt.yaml"), "--out", str(tmp_path / "lt.yaml")]) == 2
    assert (tmp_path / "lt.yaml").read_text() == WHOLE
    assert "cannot be written" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["tests: {bias: {x: {}}}", "task: ner", "tests: 5", "- 1", "tests: {"])
def test_a_file_without_any_test_of_ours_is_refused_in_one_line(
    tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "lt.yaml").write_text(text)
    assert main(["import-langtest", str(tmp_path / "lt.yaml")]) == 2
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ({"model": "org/name", "hub": "huggingface"}, "hf/org/name"),
        ({"model": "http://localhost:1234/v1/chat/completions", "hub": "lm-studio"}, "openai/default"),
        ({"model": "x", "hub": "spacy"}, None),
    ],
)
def test_models_are_found_by_their_hub(model: dict[str, str], expected: str | None) -> None:
    suite, notes = import_langtest({"model": model, "tests": {"factuality": {"order_bias": None}}}, name="x")
    assert suite.get("model") == expected
    assert suite.get("model_args", {}).get("base_url") in (None, "http://localhost:1234/v1")
    assert expected is not None or "no counterpart" in notes[0]
