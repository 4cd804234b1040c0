"""What single words can be, and how verbs inflect."""

from __future__ import annotations

from importlib.machinery import ModuleSpec

import pytest

from contrapose.tasks.language import flags as f
from contrapose.tasks.language import inflection, vocabulary

FORMS = [
    ("eats", f.THIRD), ("ate", f.PAST), ("eaten", f.PART), ("run", f.BASE | f.PART), ("put", f.BASE | f.PAST | f.PART),
    ("plants", f.THIRD | f.PLURAL), ("people", f.PLURAL), ("heavy", f.ADJ), ("quickly", f.ADV),
    ("photosynthesizes", f.THIRD), ("reverse-engineered", f.PAST), ("gentrifies", f.THIRD),
    ("fly", f.BASE | f.USUALLY_VERB), ("rich", f.ADJ | f.SINGULAR | f.PLURAL), ("sheep", f.SINGULAR | f.PLURAL),
    ("think", f.BASE | f.EMBED), ("thinks", f.THIRD | f.EMBED), ("waters", f.THIRD | f.PLURAL | f.RARELY_VERB),
    ("well-known", f.PART | f.ADJ), ("livestreamed", f.PAST | f.PART), ("zor-blo-walked", f.PAST | f.ADJ),
    ("outfly", f.BASE), ("abroad", f.ADV),
]  # fmt: skip
NO_FORMS = [
    ("people", f.SINGULAR), ("news", f.PLURAL), ("physics", f.PLURAL), ("means", f.PLURAL),
    ("quickly", f.ADJ | f.NOUN), ("early", f.ADV), ("daily", f.ADV), ("fly", f.RARELY_VERB), ("multiply", f.ADV),
    ("supply", f.ADV), ("outfly", f.ADV), ("half-sing", f.ADJ), ("marveling", f.PART),
]  # fmt: skip
UNKNOWN = [
    ("blorpizes", f.THIRD | f.USUALLY_VERB), ("blorpifies", f.THIRD | f.USUALLY_VERB),
    ("blorpates", f.THIRD | f.USUALLY_VERB), ("blorpate", f.BASE | f.USUALLY_VERB), ("blorping", f.ING),
    ("blorped", f.PAST | f.PART), ("blorps", f.PLURAL), ("blorpus", f.SINGULAR), ("blorpis", f.SINGULAR),
    ("blorpness", f.SINGULAR), ("blorply", f.ADV), ("blorp", f.SINGULAR), ("zhed", f.SINGULAR),
    ("zored", f.PAST | f.PART), ("qing", f.SINGULAR), ("zoing", f.ING), ("xs", f.SINGULAR), ("zhs", f.PLURAL),
    ("zely", f.SINGULAR), ("zorly", f.ADV), ("ungo", f.SINGULAR),
]  # fmt: skip
BASES = [
    ("ate", f.PAST, "eat"), ("carries", f.THIRD, "carry"), ("found", f.PAST, "find"), ("found", f.BASE, "found"),
    ("underwent", f.PAST, "undergo"), ("levelled", f.PAST, "level"), ("overate", f.PAST, "overeat"),
    ("livestreamed", f.PAST, "livestream"), ("photosynthesizes", f.THIRD, "photosynthesize"), ("has", f.THIRD, "have"),
    ("saw", f.PAST, "see"), ("re-opened", f.PAST, "re-open"), ("outlevelled", f.PAST, "outlevel"),
    ("blorpifies", f.THIRD, "blorpify"), ("blorpified", f.PAST, "blorpify"), ("blorpized", f.PAST, "blorpize"),
    ("blorpates", f.THIRD, "blorpate"), ("blorpate", f.BASE, "blorpate"), ("cartwheelled", f.PAST, "cartwheel"),
    ("zorlled", f.PAST, None), ("zipwalked", f.PAST, "zipwalk"), ("mudhoped", f.PAST, "mudhope"),
    ("mudused", f.PAST, None), ("blorps", f.THIRD, None),
]  # fmt: skip


@pytest.mark.parametrize(("word", "flags"), FORMS)
def test_a_word_has_all_its_readings(word: str, flags: int) -> None:
    assert vocabulary.look_up(word) & flags == flags


@pytest.mark.parametrize(("form", "kind", "base"), BASES)
def test_a_form_leads_to_its_base(form: str, kind: int, base: str | None) -> None:
    assert inflection.find_base_form(form, kind) == base


@pytest.mark.parametrize(("word", "flags"), NO_FORMS)
def test_a_word_has_no_reading_that_nobody_means(word: str, flags: int) -> None:
    assert not vocabulary.look_up(word) & flags


@pytest.mark.parametrize(("word", "flags"), UNKNOWN)
def test_the_ending_decides_for_an_unknown_word(word: str, flags: int) -> None:
    assert vocabulary.look_up(word) == flags


@pytest.mark.parametrize(
    ("base", "third", "past"),
    [
        ("have", "has", "had"), ("do", "does", "did"), ("go", "goes", "went"), ("undergo", "undergoes", "underwent"),
        ("overeat", "overeats", "overate"), ("play", "plays", "played"), ("carry", "carries", "carried"),
        ("fix", "fixes", "fixed"), ("wash", "washes", "washed"), ("put", "puts", "put"),
        ("blorp", "blorps", "blorped"), ("blorpe", "blorpes", "blorped"), ("blorpy", "blorpies", "blorpied"),
        ("blorpay", "blorpays", "blorpayed"),
    ],
)  # fmt: skip
def test_a_verb_inflects(base: str, third: str, past: str) -> None:
    assert (inflection.make_third_person(base), inflection.make_past(base)) == (third, past)


@pytest.mark.parametrize("base", ["eat", "carry", "stop", "go", "watch", "undergo", "photosynthesize"])
def test_inflection_and_base_agree(base: str) -> None:
    assert inflection.find_base_form(inflection.make_third_person(base), f.THIRD) == base
    assert inflection.find_base_form(inflection.make_past(base), f.PAST) == base


def test_an_unknown_past_form_has_no_base() -> None:
    assert inflection.find_base_form("blorped", f.PAST) is None


@pytest.mark.parametrize("spec", [None, ModuleSpec("lemminflect", None)])
def test_a_missing_package_is_named(spec: ModuleSpec | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vocabulary, "find_spec", lambda name: spec)
    with pytest.raises(ModuleNotFoundError, match=r"lemminflect is not installed"):
        vocabulary.vocabulary.__wrapped__()
