"""Where the main verb and the subject of a sentence are."""

from __future__ import annotations

import pytest

from contrapose.tasks.probes.english.analysis import analyse

MAIN = [
    ("The dogs that bark scare me.", "scare"),
    ("The cake my mother baked tasted wonderful.", "tasted"),
    ("The man who is tall is happy", "is"),
    ("Studies show that plants need water.", "show"),
    ("When the eggs hatch, the offspring are", "are"),
    ("The company, which was founded in 1990, makes cars.", "makes"),
    ("The government announced plans to cut taxes.", "announced"),
    ("The house where I grew up burned down.", "burned"),
    ("Many people think cats see in the dark.", "think"),
    ("The movie, I think, starts at eight.", "starts"),
    ("May is my favorite month.", "is"),
    ("Bill paid the bill.", "paid"),
    ("That he left surprised us.", "surprised"),
    ("Five plus seven equals twelve.", "equals"),
    ("The pigment that makes leaves green is chlorophyll.", "is"),
    ("The train that stops leaves late.", "leaves"),
    ("The water was heated and weighed.", "was"),
    ("The film, I think, starts at eight.", "starts"),
    ("Mr. Smith, I think, left.", "left"),
    ("The dog's sleeping.", "dog's"),
    ("Now that it rains, the field is wet.", "is"),
    ("While driving, he sang.", "sang"),
    ("If possible, send a letter.", "send"),
    ("If it rains, stay inside.", "stay"),
    ("As soon as the bell rings, the children leave.", "leave"),
    ("Strange as it seems, the plan worked.", "worked"),
    ("A prism splits light.", "splits"),
    ("Many sold their houses.", "sold"),
    ("Some left early.", "left"),
    ("Others sold their houses.", "sold"),
    ("This means that he lied.", "means"),
    ("These need water.", "need"),
    ("That costs money.", "costs"),
    ("This house costs money.", "costs"),
    ("Anna, a maker of aids, works at home.", "works"),
    ("The announced plans failed.", "failed"),
    ("The story cried.", "cried"),
    ("Growing plants needs care.", "needs"),
    ("Growing plants need care.", "need"),
    ("What she said hurts.", "hurts"),
    ("A number of dogs bark.", "bark"),
    ("Plants grown in pots need water.", "need"),
    ("People living here drive.", "drive"),
    ("The people here drive cars.", "drive"),
    ("I am sure he left.", "am"),
    ("The food they eat is cold.", "is"),
    ("The boy that I saw yesterday sings.", "sings"),
    ("That book is old.", "is"),
    ("I know that.", "know"),
    ("The idea that birds fly south is old.", "is"),
    ("He is taller than she is.", "is"),
    ("The teacher who taught us left.", "left"),
    ("The things which matter cost little.", "cost"),
    ("How to cook rice is a secret.", "is"),
    ("The box in which it lies is red.", "is"),
    ("In the garden roses grow.", "grow"),
    ("The complex houses married soldiers.", "married"),
    ("A meal consists of soup.", "consists"),
    ("The house of cards fell.", "fell"),
    ("The city called Bath has springs.", "has"),
    ("Snow rarely falls on this coast.", "falls"),
    ("Her being late meant trouble.", "meant"),
    ("Wool comes from sheep.", "comes"),
    ("My friend works on HR.", "works"),
    ("Swimming helps.", "helps"),
    ("These leaves fall.", "fall"),
    ("These dry quickly.", "dry"),
    ("The cat yawned.", "yawned"),
    ("Anna's will is done.", "is"),
    ("Those who sow and reap eat.", "eat"),
    ("Because to err is human, we forgive.", "forgive"),
    ("The old, wounded in war, left.", "left"),
]
JOINED = [
    ("The man sat down and ate.", "sat", ["ate"]),
    ("The man sat down, ate and left.", "sat", ["ate", "left"]),
    ("The bus stops here and the train stops there.", "stops", ["stops"]),
    ("The water was heated and weighed.", "was", []),
    ("The dog and the cat sleep.", "sleep", []),
    ("The shop sells bread and the baker sleeps.", "sells", ["sleeps"]),
    ("He came, saw, ate, sang, left and slept.", "came", ["saw", "ate", "sang", "left", "slept"]),
]
KINDS = [
    ("Close the door.", "order"),
    ("Be quiet.", "order"),
    ("Is the sky blue?", "polar"),
    ("Which gas do plants take in?", "wh"),
    ("If it rains, what happens?", "wh"),
    ("Tower Building of the Little Rock Arsenal.", "fragment"),
    ("Dogs bark.", "statement"),
    ("Have a seat.", "order"),
    ("Have a great day.", "order"),
    ("Do sit down.", "order"),
    ("Let's go.", "order"),
    ("Please close the door.", "order"),
    ("Always wear a helmet.", "order"),
    ("List three impacts.", "order"),
    ("The horse always wins.", "statement"),
    ("So let's accept it's true,", "statement"),
    ("What is the capital of france", "wh"),
    ("which planet is closest to the sun", "wh"),
    ("who wrote hamlet", "wh"),
    ("who can swim", "wh"),
    ("What date is the amount of daylight minimized", "wh"),
    ("when the sun sets", "fragment"),
    ("When heat is added to something", "fragment"),
    ("where x is a real number.", "fragment"),
    ("Because it rained.", "fragment"),
    ("Risk factors.", "fragment"),
    ("Feature films.", "fragment"),
    ("The dog's food bowl", "fragment"),
    ("Anna's tall sister.", "fragment"),
    ("Without it's mother.", "fragment"),
    ("Please help.", "order"),
    ("If it rains, then is the match cancelled?", "polar"),
    ("If it rains, who stays?", "wh"),
    ("When it rains in May what do you do?", "wh"),
    ("Anna, is it late?", "polar"),
]
DOUBTED = [
    "Please fish.",
    "Please light candles.",
    "A prism splits light.",
    "Some left early.",
    "My stomach dropped.",
    "The bridge held!!!",
]
PLAIN = [
    *("Wool comes from sheep.", "Snow rarely falls on this coast.", "Dogs bark.", "The announced plans failed."),
    *("These leaves fall.", "As long as it rains we stay.", "These dry quickly.", "Those who sow and reap eat."),
    *("The house, built in 1990 burned.", "The old, wounded in war, left."),
]
SUBJECTS = [
    ("While driving, he sang.", "he"),
    ("As soon as the bell rings, the children leave.", "the children"),
    ("Because it rained, the match ended.", "the match"),
    ("In the garden, roses grow.", "roses"),
    ("Well, it works.", "it"),
    ("Question: The sky is blue.", "The sky"),
    ("Now is the time.", "Now"),
    ("To err is human.", "To"),
    ("Running, he fell.", "he"),
    ("Running shoes, old or new, need care.", "Running"),
    ("In the end, Tom, however, left early.", "Tom"),
    ("In the morning, cold winds blow.", "cold"),
]


@pytest.mark.parametrize(("text", "verb"), MAIN)
def test_every_clause_has_one_verb_and_the_main_one_is_found(text: str, verb: str) -> None:
    analysis = analyse(text)
    assert analysis.sentence.word(analysis.clause.verb) == verb


@pytest.mark.parametrize(("text", "kind"), KINDS)
def test_the_kind_of_a_sentence_is_told(text: str, kind: str) -> None:
    assert analyse(text).kind == kind


def test_the_subject_starts_behind_a_fronted_phrase() -> None:
    analysis = analyse("Despite the rain, the match went ahead.")
    assert analysis.sentence.words[analysis.subject] == "the"
    assert analysis.sentence.starts[analysis.subject] == len("Despite the rain, ")


@pytest.mark.parametrize(("text", "start"), SUBJECTS)
def test_a_subject_stands_behind_labels_fillers_and_fronted_phrases(text: str, start: str) -> None:
    analysis = analyse(text)
    assert text[analysis.sentence.starts[analysis.subject] :].startswith(start)


@pytest.mark.parametrize(("text", "verb", "others"), JOINED)
def test_further_predicates_and_clauses_are_listed(text: str, verb: str, others: list[str]) -> None:
    s, *_, clause = analyse(text)
    assert (s.word(clause.verb), [s.word(i) for i in clause.others]) == (verb, others)


@pytest.mark.parametrize("text", DOUBTED)
def test_a_verb_that_may_be_a_noun_or_a_participle_is_doubtful(text: str) -> None:
    assert analyse(text).doubtful
    assert not analyse(text).ambiguous


@pytest.mark.parametrize("text", PLAIN)
def test_a_plain_verb_is_not(text: str) -> None:
    assert not analyse(text).doubtful


def test_a_garden_path_is_doubtful() -> None:
    assert analyse("The horse raced past the barn fell.").doubtful


def test_a_very_long_sentence_is_not_taken_apart() -> None:
    long = analyse("I say that " * 66 + "it always rains.")
    assert (long.kind, long.subject, long.clause) == ("statement", 0, (-1, -1, False, (), 0.0))
    assert analyse("I say that " * 66 + "it rains.").clause.verb == 1


@pytest.mark.parametrize("text", ["Is it late?", "What is it?", "Feature films.", "Well,"])
def test_a_sentence_without_a_main_clause_of_its_own_is_not_doubtful(text: str) -> None:
    analysis = analyse(text)
    assert analysis.clause[:4] == (-1, -1, False, ())
    assert not analysis.doubtful
