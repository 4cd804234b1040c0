"""Wordings of a prompt: who is asked in which, and what each of them shows."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

import pytest

from contrapose.tasks.config.plan import Plan, plans
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.config.suite_files import load_config
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.records import Case
from contrapose.tasks.core.registry import names, probe
from contrapose.tasks.load.samples import load_samples
from contrapose.tasks.perturb.cases import build_cases
from contrapose.tasks.perturb.wordings import assign_wordings
from contrapose.tasks.probes.own_prompt import load_built_in_wordings
from contrapose.tasks.probes.prompt_settings import PromptSettings

LEAST_SHIPPED = 8
IDS = [f"pair-{number}" for number in range(1000)]
PROMPTED = [
    name
    for name in names("probes")
    # Bundled samples have nothing for the example of a test of another package.
    if issubclass(probe(name).settings_type, PromptSettings) and name != "swap_roles"
]


def plan_of(test: str = "order_bias", *, settings: dict[str, Any] | None = None, **changes: Any) -> Plan:
    tests = {probe(test).category: {test: settings or {}}}
    (plan,) = plans(RunConfig.model_validate({"model": "mock", "tests": tests, **changes}))
    return plan


def cases_of(plan: Plan, *, limit: int = 40) -> list[Case]:
    samples = load_samples(plan.data, probe(plan.test).sample_type, limit=limit, seed=0).samples
    drawn = assign_wordings([sample.id for sample in samples], plan, seed=0)
    return list(build_cases(samples, plan, seed=0, likelihoods="none", wordings=drawn))


@pytest.mark.parametrize("samples", [5, 6, 7, 40, 41, 176, 1000])
@pytest.mark.parametrize(("wordings", "each"), [(2, 1), (6, 2), (7, 2), (8, 3), (6, 5), (6, 6), (3, 2), (8, 1)])
def test_every_wording_gets_an_equal_share_within_one(samples: int, wordings: int, each: int) -> None:
    plan = plan_of(settings={"wordings": wordings, "wordings_each": each})
    assigned = assign_wordings(IDS[:samples], plan, seed=3)
    assert all(len(set(own)) == each for own in assigned.values())
    counts = Counter(number for own in assigned.values() for number in own)
    shares = [counts[number] for number in range(1, wordings + 1)]
    assert sum(shares) == samples * each
    assert max(shares) - min(shares) <= 1


def test_wordings_depend_on_no_order_and_on_the_seed() -> None:
    plan = plan_of(wordings=6)
    assigned = assign_wordings(IDS, plan, seed=3)
    assert assign_wordings(IDS[::-1], plan, seed=3) == assigned
    assert assign_wordings(IDS, plan, seed=4) != assigned


def test_most_samples_keep_their_wordings_when_there_are_more() -> None:
    plan = plan_of(wordings=6)
    steps = [assign_wordings(IDS[:count], plan, seed=3) for count in (40, 80, 160, 320)]
    for few, more in pairwise(steps):
        assert sum(more[name] == own for name, own in few.items()) >= 0.7 * len(few)


def test_all_pairs_of_wordings_meet_in_samples() -> None:
    assigned = assign_wordings(IDS[:300], plan_of(wordings=6), seed=3)
    assert len(Counter(assigned.values())) == 15


def test_a_wording_is_part_of_the_id_and_one_wording_changes_nothing() -> None:
    plain, worded = cases_of(plan_of()), cases_of(plan_of(wordings=6))
    assert len(worded) == 2 * len(plain)
    assert {case.wording for case in plain} == {None}
    assert all(case.id.endswith(f"/w{case.wording}") for case in worded)
    assert len({case.id for case in worded}) == len(worded)
    usual = {case.sample_id: case.original_prompt for case in plain}
    first = [case for case in worded if case.wording == 1]
    assert first
    assert all(case.original_prompt == usual[case.sample_id] for case in first)


# The prompts of tests of tools are conversations, and their texts name the tools.
@pytest.mark.parametrize("test", [test for test in PROMPTED if not test.startswith("tool_")])
def test_built_in_wordings_differ_and_show_the_same(test: str) -> None:
    count = len(load_built_in_wordings(probe(test).settings_type.built_in))  # type: ignore[attr-defined]
    assert count >= LEAST_SHIPPED
    every = {"wordings": count, "wordings_each": count, "control": True}
    in_each_wording: dict[str, list[Case]] = {}
    for case in cases_of(plan_of(test, settings=every), limit=30):
        if case.skip_reason is None:
            in_each_wording.setdefault(case.id.removesuffix(f"/w{case.wording}"), []).append(case)
    assert {case.control for cases in in_each_wording.values() for case in cases} == {True, False}
    for cases in in_each_wording.values():
        assert {case.wording for case in cases} == set(range(1, count + 1))
        assert len({case.original_prompt for case in cases}) == count
        assert len({case.options for case in cases}) == 1
        # The question of a control belongs to its text, and each wording has its own.
        assert cases[0].control or len({case.original for case in cases}) == 1
        for case in cases:
            assert case.perturbed_prompt is not None
            assert case.original_prompt != case.perturbed_prompt
            for prompt in (case.original_prompt, case.perturbed_prompt):
                assert "{{" not in prompt
                assert "{%" not in prompt
            assert case.original_prompt == case.original_prompt.strip()
            for text in case.options or (case.original.strip(),):
                assert " ".join(text.split()) in " ".join(case.original_prompt.split())


@pytest.mark.parametrize("test", PROMPTED)
def test_each_wording_has_a_control_in_that_wording(test: str) -> None:
    cases = [
        case for case in cases_of(plan_of(test, settings={"wordings": 6, "control": True})) if not case.skip_reason
    ]
    asked = {(case.sample_id, case.wording, case.original_prompt) for case in cases if not case.control}
    controls = [(case.sample_id, case.wording, case.original_prompt) for case in cases if case.control]
    assert set(controls) <= asked
    assert Counter(key[:2] for key in controls) == Counter({key[:2] for key in asked})


def test_a_test_with_fewer_wordings_says_how_many_there_are() -> None:
    with pytest.raises(ConfigError, match=r"9 wordings, and a test that has 8; expected at most 8.*wordings: 1"):
        plan_of(wordings=9)
    with pytest.raises(Exception, match=r"9 wordings; expected at most 8"):
        plan_of(settings={"wordings": 9})


def test_a_prompt_of_ones_own_needs_a_list_or_one_wording() -> None:
    own = {"prompt": "{{ first }} {{ second }} {{ question }}"}
    with pytest.raises(ConfigError, match=r"6 wordings, and a test that has 1"):
        plan_of(wordings=6, settings=own)
    assert "wordings" not in plan_of(settings=own).settings
    assert plan_of(wordings=6, settings={**own, "wordings": 1}).settings["prompt"] == own["prompt"]


def test_templates_of_ones_own_are_wordings_with_labels_and_pattern() -> None:
    templates = [f"{{{{ first }}}} or {{{{ second }}}}? ({number})" for number in range(3)]
    settings = {"wordings": templates, "labels": ["one", "two"]}
    cases = cases_of(plan_of(settings=settings))
    assert {case.original_prompt[-3:] for case in cases} == {"(0)", "(1)", "(2)"}
    assert {case.scorer for case in cases} == {"label"}


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"wordings": ["{{ first }} {{ second }}"]}, "at least 2"),
        ({"wordings": ["{{ first }} {{ second }}"] * 2}, "two equal wordings"),
        ({"wordings": ["{{ first }} {{ second }}", "{{ first }}"]}, "a prompt without {{ second }}"),
        ({"wordings": ["{{ first }} {{ second }}", "{{ first }}{{ second }}"], "prompt": "x"}, "prompt"),
        ({"wordings": 3, "prompt": "{{ first }} {{ second }}"}, "3 built-in wordings beside a prompt"),
        ({"wording": 9}, "9 wordings; expected at most 8"),
    ],
)
def test_wrong_wordings_are_refused(settings: dict[str, Any], match: str) -> None:
    with pytest.raises(Exception, match=match.replace("{", r"\{")):
        plan_of(settings=settings)


def test_wordings_are_read_from_files_beside_the_suite(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "one.j2").write_text("{{ first }} {{ second }} 1", encoding="utf-8")
    (tmp_path / "two.j2").write_text("{{ first }} {{ second }} 2", encoding="utf-8")
    suite = tmp_path / "own.yaml"
    suite.write_text("model: mock\ntests: {factuality: {order_bias: {wordings_files: [one.j2, two.j2]}}}\n", "utf-8")
    config, _ = load_config(str(suite))
    (plan,) = plans(config)
    assert plan.settings["wordings"] == ["{{ first }} {{ second }} 1", "{{ first }} {{ second }} 2"]
