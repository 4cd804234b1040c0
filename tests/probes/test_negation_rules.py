"""What the rules do to texts of each kind."""

from __future__ import annotations

import pytest

from contrapose.tasks.probes.negation import negate

STATEMENTS = [
    ("A cactus stem is used to store", "A cactus stem is not used to store"),
    ("When the eggs hatch, the offspring are", "When the eggs hatch, the offspring are not"),
    ("He had better go.", "He had better not go."),
    ("The mayor is probably guilty.", "The mayor is probably not guilty."),
    ("Behind the house the dog sleeps.", "Behind the house the dog does not sleep."),
    ("He is likely a thief.", "He is likely not a thief."),
]
COMPLEMENTS = [
    ("The pigment that makes leaves green is", "The pigment that makes leaves green is not"),
    ("A coat that keeps dogs dry costs little.", "A coat that keeps dogs dry does not cost little."),
    ("The dye that paints dogs blue contains iron.", "The dye that paints dogs blue does not contain iron."),
    ("The light that helps plants grow comes from afar.", "The light that helps plants grow does not come from afar."),
    ("The meat that spoils turns green.", "The meat that spoils does not turn green."),
]
NAMES_LIKE_ADVERBS = [
    ("The island of Sicily belongs to", "The island of Sicily does not belong to"),
    ("THE ISLAND OF SICILY BELONGS TO ITALY.", "THE ISLAND OF SICILY DOES NOT BELONG TO ITALY."),
    ("My sister Emily likes tea.", "My sister Emily does not like tea."),
    ("Emily quickly closed the door.", "Emily did not quickly close the door."),
    ("The mayor of Rugely opened a school.", "The mayor of Rugely did not open a school."),
]
BEHIND_THEIR_VERB = [
    ("The people who work hard earn more.", "The people who work hard do not earn more."),
    ("The birds that live here eat insects.", "The birds that live here do not eat insects."),
    ("People who live alone eat less.", "People who live alone do not eat less."),
    ("She twice won the cup.", "She did not twice win the cup."),
]
CONTRACTIONS = [
    ("The dog's sleeping.", "The dog's not sleeping."), ("Anna\u2019s a nurse.", "Anna\u2019s not a nurse."),
    ("He'd better leave.", "He'd better not leave."), ("He'd rather leave.", "He'd rather not leave."),
    ("He'd left.", "He hadn't left."), ("He'd been ill.", "He hadn't been ill."),
    ("He\u2019ll come.", "He won\u2019t come."),
]  # fmt: skip
COORDINATION = [
    ("Whales are mammals, and sharks are fish.", "Whales are not mammals, and sharks are fish."),
    ("His heart skipped a beat and he was sad.", "His heart did not skip a beat and he was sad."),
    ("The cat yawned and stretched.", "The cat did not yawn and stretch."),
]
DO_SUPPORT = [
    ("Cows lay eggs.", "Cows do not lay eggs."),
    ("A triangle has exactly ", "A triangle does not have exactly "),
    ("Tuna primarily eat ", "Tuna do not primarily eat "),
    ("A girl and her mom have the same ", "A girl and her mom do not have the same "),
    ("They put it away every day.", "They do not put it away every day."),
    ("They put it away yesterday.", "They did not put it away yesterday."),
    ("They cost ten dollars in 1850.", "They did not cost ten dollars in 1850."),
    ("Dogs cut the grass.", "Dogs do not cut the grass."),
    ("The boy cut the grass.", "The boy did not cut the grass."),
    ("The men found gold.", "The men did not find gold."),
    ("He had had a dog.", "He had not had a dog."),
    ("He had been there.", "He had not been there."),
    ("I have color-printed photos.", "I do not have color-printed photos."),
    ("She does the dishes.", "She does not do the dishes."),
    ("In 1990 they read the book.", "In 1990 they did not read the book."),
    ("The farmers spread 20045 seeds.", "The farmers do not spread 20045 seeds."),
    ("You put salt on it.", "You did not put salt on it."),
    ("She photosynthesizes.", "She does not photosynthesize."),
    ("He still likes tea.", "He still does not like tea."),
    ("The man sat down, ate and left.", "The man did not sit down, eat and leave."),
    ("He ate, sang, ran, sat, slept and left.", "He did not eat, sing, run, sit, sleep and leave."),
]
ORDERS = [
    ("Take some water.", "Do not take any water."), ("LET'S GO.", "LET'S NOT GO."), ("Let us go.", "Let us not go."),
    ("Let him go.", "Do not let him go."), ("Do eat some fruit.", "Do not eat any fruit."),
    ("Do the dishes.", "Do not do the dishes."),
]  # fmt: skip
QUANTIFIERS = [
    ("All dogs are mammals.", "Not all dogs are mammals."),
    ("Someone is at the door.", "No one is at the door."),
    ("Every dog barks.", "Not every dog barks."),
    ("Somebody called.", "Nobody called."),
    ("Something is wrong.", "Nothing is wrong."),
]
QUESTIONS = [
    ("What is a stopwatch used for? ", "What is a stopwatch not used for? "),
    ("What's the capital of Italy?", "What's not the capital of Italy?"),
    ("What are they made of?", "What are they not made of?"),
    ("What are these animals called?", "What are these animals not called?"),
    ("What is the man called?", "What is the man not called?"),
    ("What is the boy holding?", "What is the boy not holding?"),
    ("What is the gas causing the smell?", "What is not the gas causing the smell?"),
    ("What is an example of a conductor used in homes?", "What is not an example of a conductor used in homes?"),
    ("What year was the club founded?", "What year was the club not founded?"),
    ("What year was it founded?", "What year was it not founded?"),
    ("What animal is the largest?", "What animal is not the largest?"),
    ("Where does he probably live?", "Where does he probably not live?"),
    ("What has the dog eaten?", "What has the dog not eaten?"),
    ("Where has the dog slept?", "Where has the dog not slept?"),
    ("What causes tides?", "What does not cause tides?"),
]
POLAR = [
    ("Is the sky blue?", "The sky is blue.", "The sky is not blue."),
    ("Did Einstein discover it?", "Einstein discovered it.", "Einstein did not discover it."),
    ("Has the dog eaten the food?", "The dog has eaten the food.", "The dog has not eaten the food."),
    ("Did the dog eat some meat?", "The dog ate some meat.", "The dog did not eat any meat."),
    ("Do they probably eat meat?", "They probably eat meat.", "They probably do not eat meat."),
    ("Did all dogs bark?", "All dogs barked.", "Not all dogs barked."),
    ("At night, is the sky dark?", "At night, the sky is dark.", "At night, the sky is not dark."),
    ("Has the man been here?", "The man has been here.", "The man has not been here."),
    ("Was Paris to blame?", "Paris was to blame.", "Paris was not to blame."),
    ("Is this red?", "This is red.", "This is not red."),
    ("Should it, too, change?", "It, too, should change.", "It, too, should not change."),
    ("Are there some birds here?", "There are some birds here.", "There are not any birds here."),
]

INVERTED = (
    "Does the plant water not need light?", "Do the men who work not smoke?", "Did Paris not change?",
    "Will the rain not stop the match?", "Should dogs' owners not pay?", "Could two men not lift it?",
    "Did the man probably not work?", "Did the lack of rain not cause drought?",
    "Did the cause of the fire not change?", "Did swimming in the sea not help?", "Did the first start not fail?",
    "Did the second not run end?", "Does the cut not heal?", "Did the town's need for water not change?",
    "Does the number of cats not grow?", "Do a number of cats not sleep?", "Do plants grown in pots not need light?",
    "Do boys building houses not help?", "Do he and she not work?", "Do these not matter?",
    "Does another man not matter?", "Does a cat in boxes not matter?", "Did the men, too, not want to go?",
    "Can the late man not be here?", "Could the child in red not do it?", "Should the very rich not pay?",
    "Would more help not help?", "Would Mark not help Anna?", "Would the fact that it works not help?",
    "Would a man like Tom not help?", "Would the men to ask not help?", "Would the cook not cook rice?",
    "Would the man not work to win?", "Would the long run not hurt?", "Would dry land not help?",
    "Did the plan for you people not work?", "Do the boys not dance like birds?", "Is the house not near the river?",
    "Is the house not on fire?", "Is gold not really heavy?", "Is the running man not old?",
    "Is the book not mine to keep?", "Are the men not here?", "Was the door not painted red?",
    "Was Anna's play not good?", 'Was the "stop" sign not red?', 'Was the sign "stop" not red?',
    "Were the cows not brown when young?", "Are those old men not here?", "Is that house on the hill not old?",
    "Is the man in the house not asleep?", "Is the box not always red?", "Is Anna Smith not red?",
    "Is Anna not a Smith?", "Is seeing not believing?", "Are men not kings?", "Are the books that we read not old?",
    "Are the running boys not in the park?", "Are the boys like Anna not tall?", 'Are the boys not "tall"?',
    "Are cats not 7?", "Was the cut flower not red?", "Was the light not light?", "Was the game not over?",
    "Was the old not good?", "Has the broken vase not been sold?", "Has the run not ended?",
    "Have they not all left?", "Have you not had enough?", "If it rains what do you not do?",
    "Where did the river not run?", "Where do people who play golf not live?", "Which plants do cows not eat?",
    "Where did prices not rise?", "Since the war what has not changed?", "What has the man not eaten?",
    "What has not been done?",
)  # fmt: skip
"""Questions with the place of "not", which is behind their subject."""


@pytest.mark.parametrize(
    ("text", "negated"), STATEMENTS + CONTRACTIONS + COORDINATION + DO_SUPPORT + ORDERS + QUANTIFIERS + QUESTIONS
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


def test_a_label_before_a_yes_no_question_stays_before_the_statements() -> None:
    result = negate("Question: Is iron hard?")
    assert result.original == "Question: True or false: Iron is hard."
    assert result.text == "Question: True or false: Iron is not hard."


@pytest.mark.parametrize(
    ("text", "negated"),
    [
        ("Is the sky blue?", "Is the sky not blue?"),
        ("Did the dog eat some meat?", "Did the dog not eat any meat?"),
        ("At night, is the sky dark?", "At night, is the sky not dark?"),
    ],
)
def test_a_yes_no_question_can_keep_its_form(text: str, negated: str) -> None:
    result = negate(text, rewrite_polar=False)
    assert (result.original, result.text) == (text, negated)


@pytest.mark.parametrize("negated", INVERTED)
def test_the_subject_of_a_question_ends_where_its_verb_or_predicate_starts(negated: str) -> None:
    assert negate(negated.replace(" not", "", 1), rewrite_polar=False).text == negated


@pytest.mark.parametrize(
    "text",
    [
        *(
            "He may come.",
            "You might be right.",
            "Do you like tea?",
        ),
        *(
            "Three dogs bark.",
            "He sometimes swims.",
            "The cat yawned and stretched.",
        ),
    ],
)
def test_what_may_be_true_beside_its_opposite_is_of_medium_confidence(text: str) -> None:
    assert negate(text).confidence == "medium"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Iron is a metal.", "insert"), ("Who can swim?", "insert"), ("Close the door.", "rewrite"),
        ("Some dogs bark.", "rewrite"), ("Iron is not a gas.", "remove"),
    ],
)  # fmt: skip
def test_a_negation_says_how_it_was_made(text: str, kind: str) -> None:
    assert negate(text, existing_negation="remove").kind == kind


@pytest.mark.parametrize("text", ["Iron is a metal.", "One of the dogs barks.", "Can the dog swim?", "Some dogs bark."])
def test_a_plain_opposite_is_of_high_confidence(text: str) -> None:
    assert negate(text).confidence == "high"
