"""What the rules do to texts of each kind."""

from __future__ import annotations

import pytest

from contrapose.tasks.probes.negation import negate

STATEMENTS = [
    ("A cactus stem is used to store", "A cactus stem is not used to store"),
    ("When the eggs hatch, the offspring are", "When the eggs hatch, the offspring are not"),
    ("The main component in dirt is ", "The main component in dirt is not "),
    ("The man who is tall is happy", "The man who is tall is not happy"),
    ("The organ that pumps blood is the", "The organ that pumps blood is not the"),
    ("The trash that people throw away is collected.", "The trash that people throw away is not collected."),
    ("The man whose dog barked was angry.", "The man whose dog barked was not angry."),
    ("The match was cancelled because it rained.", "The match was not cancelled because it rained."),
    ("True or false: Copper is a metal.", "True or false: Copper is not a metal."),
    ("It is hot. Dogs can swim.", "It is hot. Dogs cannot swim."),
    ("Mr. Smith is here.", "Mr. Smith is not here."),
    ("He had better go.", "He had better not go."),
    ("You ought to go.", "You ought not to go."),
    ("The trash can is full.", "The trash can is not full."),
    ("The mayor is probably guilty.", "The mayor is probably not guilty."),
    ("Birds are likely to fly.", "Birds are not likely to fly."),
    ("THE SKY IS BLUE.", "THE SKY IS NOT BLUE."),
    ('"Dogs are nice" is a sentence.', '"Dogs are nice" is not a sentence.'),
]
COMPLEMENTS = [
    ("The pigment that makes leaves green is", "The pigment that makes leaves green is not"),
    ("A coat that keeps dogs dry costs little.", "A coat that keeps dogs dry does not cost little."),
    ("The gas which turns leaves white comes from", "The gas which turns leaves white does not come from"),
    ("The dye that paints dogs blue contains iron.", "The dye that paints dogs blue does not contain iron."),
    ("The light that helps plants grow comes from afar.", "The light that helps plants grow does not come from afar."),
    ("What makes leaves green is chlorophyll.", "What makes leaves green is not chlorophyll."),
    ("The frost that makes forests hard kills ants.", "The frost that makes forests hard does not kill ants."),
    ("The noise that drives dogs mad comes from", "The noise that drives dogs mad does not come from"),
    ("The meat that spoils turns green.", "The meat that spoils does not turn green."),
    ("The train that stops leaves late.", "The train that stops does not leave late."),
    ("The wheel that turns drives the mill.", "The wheel that turns does not drive the mill."),
]
NAMES_LIKE_ADVERBS = [
    ("The island of Sicily belongs to", "The island of Sicily does not belong to"),
    ("THE ISLAND OF SICILY BELONGS TO ITALY.", "THE ISLAND OF SICILY DOES NOT BELONG TO ITALY."),
    ("My sister Emily likes tea.", "My sister Emily does not like tea."),
    ("Emily quickly closed the door.", "Emily did not quickly close the door."),
    ("The mayor of Rugely opened a school.", "The mayor of Rugely did not open a school."),
    ("She kindly offered tea.", "She did not kindly offer tea."),
]
BEHIND_THEIR_VERB = [
    ("The people who work hard earn more.", "The people who work hard do not earn more."),
    ("The birds that live here eat insects.", "The birds that live here do not eat insects."),
    ("People who live alone eat less.", "People who live alone do not eat less."),
    ("She twice won the cup.", "She did not twice win the cup."),
]
CONTRACTIONS = [
    ("It's raining.", "It's not raining."),
    ("They\u2019re happy.", "They\u2019re not happy."),
    ("He'll come.", "He won't come."),
    ("The dog's sleeping.", "The dog's not sleeping."),
    ("Anna\u2019s a nurse.", "Anna\u2019s not a nurse."),
    ("The dog's tail is long.", "The dog's tail is not long."),
]
COORDINATION = [
    ("Whales are mammals, and sharks are fish.", "Whales are not mammals, and sharks are fish."),
    ("He was born in France but lives in Spain.", "He was not born in France but lives in Spain."),
    ("His heart skipped a beat and he was sad.", "His heart did not skip a beat and he was sad."),
    ("The cat yawned and stretched.", "The cat did not yawn and stretch."),
    ("As the forest shrinks the atmosphere will", "As the forest shrinks the atmosphere will not"),
]
DO_SUPPORT = [
    ("Predators eat ", "Predators do not eat "),
    ("Cows lay eggs.", "Cows do not lay eggs."),
    ("Dogs bark.", "Dogs do not bark."),
    ("A triangle has exactly ", "A triangle does not have exactly "),
    ("She ate the apple.", "She did not eat the apple."),
    ("A wedge requires ", "A wedge does not require "),
    ("Tuna primarily eat ", "Tuna do not primarily eat "),
    ("A girl and her mom have the same ", "A girl and her mom do not have the same "),
    ("She has eaten the cake.", "She has not eaten the cake."),
    ("The bird knows the cat is happy.", "The bird does not know the cat is happy."),
    ("Close the door.", "Do not close the door."),
]
QUANTIFIERS = [
    ("All dogs are mammals.", "Not all dogs are mammals."),
    ("Some berries may be eaten by ", "No berries may be eaten by "),
    ("Someone is at the door.", "No one is at the door."),
    ("There are some apples on the table.", "There are not any apples on the table."),
]
QUESTIONS = [
    ("Which gas is used by plants?", "Which gas is not used by plants?"),
    ("What is the capital of Italy?", "What is not the capital of Italy?"),
    ("What does a plant need?", "What does a plant not need?"),
    ("What is a stopwatch used for? ", "What is a stopwatch not used for? "),
    ("What causes tides?", "What does not cause tides?"),
    ("Which animal has live births? ", "Which animal does not have live births? "),
    ("Where do penguins live?", "Where do penguins not live?"),
    ("At what temperature does water boil?", "At what temperature does water not boil?"),
    ("To improve health, what is a good strategy?", "To improve health, what is not a good strategy?"),
]
POLAR = [
    ("Is the sky blue?", "The sky is blue.", "The sky is not blue."),
    ("Does a plant need light?", "A plant needs light.", "A plant does not need light."),
    ("Did Einstein discover it?", "Einstein discovered it.", "Einstein did not discover it."),
    ("Can birds fly?", "Birds can fly.", "Birds cannot fly."),
    ("Has the dog eaten the food?", "The dog has eaten the food.", "The dog has not eaten the food."),
]


@pytest.mark.parametrize(
    ("text", "negated"), STATEMENTS + CONTRACTIONS + COORDINATION + DO_SUPPORT + QUANTIFIERS + QUESTIONS
)
def test_the_last_main_clause_is_reversed(text: str, negated: str) -> None:
    result = negate(text)
    assert (result.text, result.original, result.reason) == (negated, text, None)


@pytest.mark.parametrize(("text", "negated"), COMPLEMENTS + NAMES_LIKE_ADVERBS + BEHIND_THEIR_VERB)
def test_the_verb_of_the_main_clause_is_told_from_what_stands_before_it(text: str, negated: str) -> None:
    result = negate(text)
    assert (result.text, result.reason) == (negated, None)


@pytest.mark.parametrize(("text", "original", "negated"), POLAR)
def test_a_yes_no_question_becomes_two_statements(text: str, original: str, negated: str) -> None:
    result = negate(text)
    assert (result.original, result.text) == (f"True or false: {original}", f"True or false: {negated}")


def test_a_yes_no_question_can_keep_its_form() -> None:
    result = negate("Is the sky blue?", rewrite_polar=False)
    assert (result.original, result.text) == ("Is the sky blue?", "Is the sky not blue?")


@pytest.mark.parametrize("text", ["He may come.", "You might be right."])
def test_compatible_modals_are_of_medium_confidence(text: str) -> None:
    assert negate(text).confidence == "medium"


def test_a_copula_is_of_high_confidence() -> None:
    assert negate("Iron is a metal.").confidence == "high"
