"""The second opinion on a negation's main verb, with a parse that says what a test wants; once with spaCy itself."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, entry_points

import pytest
from pydantic import ValidationError

from contrapose.tasks.config.plan import plans
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.policy import cache_key
from contrapose.tasks.core.records import Case, TextSample
from contrapose.tasks.probes.negation import AddNegation, AddNegationSettings, negate, probe, second_opinion
from contrapose.tasks.probes.negation import probe as settings
from contrapose.tasks.probes.negation.second_opinion import Parse, add_second_opinion, get_spacy_versions, load_parser


@dataclass
class Word:
    """A word of a parse."""

    idx: int
    tag_: str = "VBD"
    dep_: str = "ROOT"
    lefts: tuple[Word, ...] = ()


@dataclass
class Sentence:
    """A parsed sentence."""

    root: Word


@dataclass
class Parsed:
    """A parsed text."""

    sents: list[Sentence]


def says(root: str, *before: tuple[str, str, str], tag: str = "VBD") -> Parse:
    """A parse with this root; `before` are words that depend on it, each with relation and tag."""

    def parse(text: str) -> Parsed:
        lefts = tuple(Word(text.index(word), tag, relation) for word, relation, tag in before)
        return Parsed([Sentence(Word(0)), Sentence(Word(text.index(root), tag, lefts=lefts))])

    return parse


def refuses(text: str) -> Parsed:
    """A parse that must not be asked for."""
    raise AssertionError(text)


def revised(text: str, parse: Parse) -> str | None:
    """The confidence after a second opinion."""
    return add_second_opinion(text, negate(text), parse).confidence


STEEL = "The steel rusts."
SEEN = says("seen", ("They", "nsubj", "PRP"), ("have", "aux", "VBP"), ("been", "auxpass", "VBN"), tag="VBN")


@pytest.mark.parametrize(
    ("text", "parse", "before", "after"),
    [
        pytest.param(STEEL, says("rusts"), "high", "high", id="same verb"),
        pytest.param(STEEL, says("steel"), "high", "medium", id="another verb"),
        pytest.param("The plan backfired.", says("backfired"), "medium", "high", id="doubt"),
        pytest.param("The place where I grew up changed.", says("changed"), "medium", "high", id="doubt in a clause"),
        pytest.param("The key may be lost.", says("may"), "medium", "medium", id="a modal stays doubtful"),
        pytest.param("Two cats sleep.", says("sleep"), "medium", "medium", id="a number stays doubtful"),
        pytest.param("Dogs bark loudly and cats sleep.", says("bark"), "medium", "medium", id="two clauses stay so"),
        *(pytest.param(STEEL, says("rusts", tag=tag), "high", "medium", id=tag) for tag in ("NNS", "VBN", "VBG")),
        pytest.param("They have been seen.", SEEN, "high", "high", id="first finite auxiliary"),
        pytest.param(
            "Her having left surprised us.", says("surprised", ("having", "aux", "VBG")), None, "high", id="no tense"
        ),
        pytest.param("It's a cat.", says("'s"), "high", "high", id="contraction"),
        pytest.param(f'The steel rusts "{"x" * 10_000}".', refuses, None, "medium", id="too long to be parsed"),
    ],
)
def test_the_same_verb_settles_a_doubt_and_another_one_raises_it(
    text: str, parse: Parse, before: str | None, after: str
) -> None:
    found = negate(text)
    assert found.confidence == (before or found.confidence)
    second = add_second_opinion(text, found, parse)
    assert (second.text, second.confidence) == (found.text, after)


def test_the_last_sentence_alone_is_parsed() -> None:
    def parse(text: str) -> Parsed:
        assert text == "It rusts."
        return Parsed([Sentence(Word(3))])

    assert revised("Steel is a metal. It rusts.", parse) == "high"


@pytest.mark.parametrize("text", ["Is the sky blue?", "What does a seed need?", "The sky is not blue.", ""])
def test_questions_and_skips_are_left_as_they_are(text: str) -> None:
    assert add_second_opinion(text, negate(text), refuses) == negate(text)


def test_a_removed_negation_is_never_made_sure() -> None:
    text = "Her being late did not matter."
    found = negate(text, existing_negation="remove")
    assert add_second_opinion(text, found, says("did")).confidence == found.confidence
    assert add_second_opinion(text, found, says("being")).confidence == "medium"


def test_the_probe_asks_when_it_is_told_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "load_parser", lambda model: says("steel") if model == "other" else refuses)
    assert case({}).confidence == "high"
    assert case({"second_opinion": "spacy", "spacy_model": "other"}).confidence == "medium"


def case(given: Mapping[str, str]) -> Case:
    """A case under the given settings."""
    chosen = AddNegationSettings.model_validate(given)
    sample = TextSample(id="1", text="The steel rusts.")
    return AddNegation().cases(sample, chosen, rng=random.Random(0), likelihoods="none")[0]


def test_it_has_nothing_to_say_about_langtests_style() -> None:
    with pytest.raises(ValidationError, match="style 'rules' beside a second_opinion"):
        AddNegationSettings(second_opinion="spacy", style="langtest")


def config() -> RunConfig:
    """A run that wants a second opinion."""
    tests = {"sensitivity": {"add_negation": {"second_opinion": "spacy"}}}
    return RunConfig.model_validate({"model": "mock", "tests": tests})


def test_another_version_of_the_model_is_another_cache_key(monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for installed in ("3.8.0", "3.8.1"):
        monkeypatch.setattr(settings, "get_spacy_versions", lambda model, at=installed: {model: at})
        plan = plans(config())[0]
        assert plan.versions["en_core_web_sm"] == installed
        found.append(cache_key("perturb", ("contrapose.tasks.core.errors",), {"plan": plan}))
    assert found[0] != found[1]


def test_without_spacy_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(second_opinion, "version", nothing)
    with pytest.raises(ConfigError, match=r"spaCy is not installed.*pip install \"contrapose\[spacy\]\""):
        plans(config())


def test_an_unknown_model_is_refused_before_anything_is_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(second_opinion, "version", lambda name: "3.8.0")
    with pytest.raises(ConfigError, match="spaCy model 'json' is not installed"):
        get_spacy_versions("json")


def test_spacy_itself_finds_the_finite_verbs() -> None:
    pytest.importorskip("spacy", reason="spaCy is not installed: pip install 'contrapose[spacy]'")
    models = sorted(entry_points(group="spacy_models").names)
    english = next((name for name in models if name.startswith("en_core_web")), None)
    if english is None:
        pytest.skip("no English spaCy model is installed: docs/second-opinion.md")
    parse = load_parser(english)
    for text in ("A cactus stem is used to store", "It's a cat.", "The plan backfired.", "Close the door."):
        assert revised(text, parse) == "high"
