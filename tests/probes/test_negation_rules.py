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
    ("Today is Monday.", "Today is not Monday."),
    ("Tired, the man slept.", "Tired, the man did not sleep."),
    ("In the garden, the tree is old.", "In the garden, the tree is not old."),
    ("Behind the house the dog sleeps.", "Behind the house the dog does not sleep."),
    ("It is likely.", "It is not likely."),
    ("He is likely a thief.", "He is likely not a thief."),
    ("He probably can swim.", "He probably cannot swim."),
    ("He can probably swim.", "He can probably not swim."),
    ("He can often swim.", "He cannot often swim."),
    ("The bird is usually quiet.", "The bird is not usually quiet."),
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
    ("He'd better leave.", "He'd better not leave."),
    ("He'd rather leave.", "He'd rather not leave."),
    ("He'd left.", "He hadn't left."),
    ("He'd been ill.", "He hadn't been ill."),
    ("He'd go.", "He wouldn't go."),
    ("He'd come.", "He wouldn't come."),
    ("They've left.", "They haven't left."),
    ("They've been ill.", "They haven't been ill."),
    ("He\u2019ll come.", "He won\u2019t come."),
    ("THEY'LL COME.", "THEY WON'T COME."),
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
    ("They put it away every day.", "They do not put it away every day."),
    ("They put it away yesterday.", "They did not put it away yesterday."),
    ("They cost ten dollars in 1850.", "They did not cost ten dollars in 1850."),
    ("Dogs cut the grass.", "Dogs do not cut the grass."),
    ("The boy cut the grass.", "The boy did not cut the grass."),
    ("The men found gold.", "The men did not find gold."),
    ("We hit the ball.", "We did not hit the ball."),
    ("The boys hit the ball.", "The boys do not hit the ball."),
    ("He had had a dog.", "He had not had a dog."),
    ("He had been there.", "He had not been there."),
    ("He has broken toys.", "He has not broken toys."),
    ("I have color-printed photos.", "I do not have color-printed photos."),
    ("She does.", "She does not do."),
    ("She does the dishes.", "She does not do the dishes."),
    ("She does work.", "She does not do work."),
    ("In 1990 they read the book.", "In 1990 they did not read the book."),
    ("The farmers spread 20045 seeds.", "The farmers do not spread 20045 seeds."),
    ("You put salt on it.", "You did not put salt on it."),
    ("She photosynthesizes.", "She does not photosynthesize."),
    ("Film 3004: they cut it.", "Film 3004: they did not cut it."),
    ("The bird usually sings.", "The bird does not usually sing."),
    ("He still likes tea.", "He still does not like tea."),
    ("The man sat down, ate and left.", "The man did not sit down, eat and leave."),
    ("He ate, sang, ran, sat, slept and left.", "He did not eat, sing, run, sit, sleep and leave."),
    ("THE CAT YAWNED AND STRETCHED.", "THE CAT DID NOT YAWN AND STRETCH."),
]
ORDERS = [
    ("Close the door.", "Do not close the door."),
    ("CLOSE THE DOOR.", "DO NOT CLOSE THE DOOR."),
    ("Give us the book.", "Do not give us the book."),
    ("Take some water.", "Do not take any water."),
    ("Always wear a helmet.", "Do not always wear a helmet."),
    ("Please close the door.", "Please do not close the door."),
    ("Let's go.", "Let's not go."),
    ("LET'S GO.", "LET'S NOT GO."),
    ("Let us go.", "Let us not go."),
    ("Let him go.", "Do not let him go."),
    ("Do sit down.", "Do not sit down."),
    ("Do eat some fruit.", "Do not eat any fruit."),
    ("Do the dishes.", "Do not do the dishes."),
    ("Be quiet.", "Do not be quiet."),
    ("Have a seat.", "Do not have a seat."),
    ("If it rains, stay inside.", "If it rains, do not stay inside."),
]
QUANTIFIERS = [
    ("All dogs are mammals.", "Not all dogs are mammals."),
    ("Some berries may be eaten by ", "No berries may be eaten by "),
    ("Someone is at the door.", "No one is at the door."),
    ("There are some apples on the table.", "There are not any apples on the table."),
    ("It seems like something died.", "It does not seem like anything died."),
    ("Every dog barks.", "Not every dog barks."),
    ("Much water is lost.", "Not much water is lost."),
    ("All those who came left.", "Not all those who came left."),
    ("Somebody called.", "Nobody called."),
    ("Something is wrong.", "Nothing is wrong."),
    ("Some of the dogs bark.", "None of the dogs bark."),
    ("Some left early.", "None left early."),
    ("ALL DOGS BARK.", "NOT ALL DOGS BARK."),
    ("SOME DOGS BARK.", "NO DOGS BARK."),
    ("all dogs bark", "not all dogs bark"),
    ("some dogs bark", "no dogs bark"),
]
QUESTIONS = [
    ("Which gas is used by plants?", "Which gas is not used by plants?"),
    ("What is the capital of Italy?", "What is not the capital of Italy?"),
    ("What does a plant need?", "What does a plant not need?"),
    ("What is a stopwatch used for? ", "What is a stopwatch not used for? "),
    ("Which animal has live births? ", "Which animal does not have live births? "),
    ("Where do penguins live?", "Where do penguins not live?"),
    ("At what temperature does water boil?", "At what temperature does water not boil?"),
    ("To improve health, what is a good strategy?", "To improve health, what is not a good strategy?"),
    ("What's the capital of Italy?", "What's not the capital of Italy?"),
    ("What are they made of?", "What are they not made of?"),
    ("What are these animals called?", "What are these animals not called?"),
    ("What is the man called?", "What is the man not called?"),
    ("What is the boy holding?", "What is the boy not holding?"),
    ("What is the boy washing his hands with?", "What is the boy not washing his hands with?"),
    ("WHAT DO BIRDS EAT?", "WHAT DO BIRDS NOT EAT?"),
    ("What is the gold ring?", "What is not the gold ring?"),
    ("What is the gas causing the smell?", "What is not the gas causing the smell?"),
    ("What is an example of a conductor used in homes?", "What is not an example of a conductor used in homes?"),
    ("What year was the club founded?", "What year was the club not founded?"),
    ("What year was it founded?", "What year was it not founded?"),
    ("What animal is the largest?", "What animal is not the largest?"),
    ("What animal is striped?", "What animal is not striped?"),
    ("Whose car is red?", "Whose car is not red?"),
    ("Why is the sky blue?", "Why is the sky not blue?"),
    ("When is the museum open?", "When is the museum not open?"),
    ("Which boys ran?", "Which boys did not run?"),
    ("Which runs faster?", "Which does not run faster?"),
    ("Which of these words means old?", "Which of these words does not mean old?"),
    ("What do they usually eat?", "What do they not usually eat?"),
    ("Where does he probably live?", "Where does he probably not live?"),
    ("Who can swim?", "Who cannot swim?"),
    ("Which car can go faster?", "Which car cannot go faster?"),
    ("What should the boy do?", "What should the boy not do?"),
    ("Which of the following can fly?", "Which of the following cannot fly?"),
    ("Who has won?", "Who has not won?"),
    ("What has four legs?", "What does not have four legs?"),
    ("What has the dog eaten?", "What has the dog not eaten?"),
    ("Where has the dog slept?", "Where has the dog not slept?"),
    ("What happens when ice melts?", "What does not happen when ice melts?"),
    ("What makes iron rust?", "What does not make iron rust?"),
    ("What plants grow here?", "What plants do not grow here?"),
    ("What words mean old?", "What words do not mean old?"),
    ("What causes tides?", "What does not cause tides?"),
]
POLAR = [
    ("Is the sky blue?", "The sky is blue.", "The sky is not blue."),
    ("Does a plant need light?", "A plant needs light.", "A plant does not need light."),
    ("Did Einstein discover it?", "Einstein discovered it.", "Einstein did not discover it."),
    ("Can birds fly?", "Birds can fly.", "Birds cannot fly."),
    ("Has the dog eaten the food?", "The dog has eaten the food.", "The dog has not eaten the food."),
    ("Can the dog really swim?", "The dog can really swim.", "The dog cannot really swim."),
    ("Will it rain tomorrow?", "It will rain tomorrow.", "It will not rain tomorrow."),
    ("Did he have to go?", "He had to go.", "He did not have to go."),
    ("Did the dog eat some meat?", "The dog ate some meat.", "The dog did not eat any meat."),
    ("Do they probably eat meat?", "They probably eat meat.", "They probably do not eat meat."),
    ("Are all metals magnetic?", "All metals are magnetic.", "Not all metals are magnetic."),
    ("Does every student sleep?", "Every student sleeps.", "Not every student sleeps."),
    ("Did all dogs bark?", "All dogs barked.", "Not all dogs barked."),
    ("Do some birds swim?", "Some birds swim.", "No birds swim."),
    ("At night, is the sky dark?", "At night, the sky is dark.", "At night, the sky is not dark."),
    ("Has the man been here?", "The man has been here.", "The man has not been here."),
    ("Have you had lunch?", "You have had lunch.", "You have not had lunch."),
    ("Have the boys done it?", "The boys have done it.", "The boys have not done it."),
    ("Could this work?", "This could work.", "This could not work."),
    ("Was Paris to blame?", "Paris was to blame.", "Paris was not to blame."),
    ("Was it like Rome?", "It was like Rome.", "It was not like Rome."),
    ("Is this red book yours?", "This red book is yours.", "This red book is not yours."),
    ("Is this house old?", "This house is old.", "This house is not old."),
    ("Is this red?", "This is red.", "This is not red."),
    ("Is the end this?", "The end is this.", "The end is not this."),
    ("Should it, too, change?", "It, too, should change.", "It, too, should not change."),
    ("Do you like the art work?", "You like the art work.", "You do not like the art work."),
    ("Did the king's fall matter?", "The king's fall mattered.", "The king's fall did not matter."),
    ("Are there some birds here?", "There are some birds here.", "There are not any birds here."),
    ("DOES IRON RUST?", "IRON RUSTS.", "IRON DOES NOT RUST."),
    ("CAN BIRDS FLY?", "BIRDS CAN FLY.", "BIRDS CANNOT FLY."),
    ("ARE ALL BIRDS SMALL?", "ALL BIRDS ARE SMALL.", "NOT ALL BIRDS ARE SMALL."),
]

INVERTED = (
    "Does the plant water not need light?", "Do the house plants not need light?",
    "Does the man with the hat not smoke?", "Do the men who work not smoke?",
    "Does every man in the house not smoke?", "Did the plan change not work?", "Did Paris not change?",
    "Did the very old not sleep?", "Did water not help?", "Will the bank not close early?",
    "Will the rain not stop the match?", "Should people in towns not walk more?", "Should the dog's owner not pay?",
    "Should dogs' owners not pay?", "Could two men not lift it?", "Could those not work?",
    "Could this plan not work?", "Did the man probably not work?", "Did the lack of rain not cause drought?",
    "Did the cause of the fire not change?", "Did the cost of living not change?",
    "Did the use of force not end the strike?", "Did reading books not help?", "Did swimming in the sea not help?",
    "Did another not start?", "Will another light not shine?", "Did the first start not fail?",
    "Did the second not run end?", "Does the cut not heal?", "Does drink not help?", "Does the drive not take long?",
    "Did the town's need for water not change?", "Does the bank's work not matter?",
    "Does the number of cats not grow?", "Do a number of cats not sleep?", "Do growing plants not need light?",
    "Does growing plants not help?", "Do plants grown in pots not need light?", "Do people living in towns not walk?",
    "Does the man living not here walk?", "Do boys building houses not help?", "Do the sheep not eat?",
    "Does the sheep not eat?", "Do he and she not work?", "Does one of the men not work?",
    "Does what he says not matter?", "Does this not matter?", "Do these not matter?", "Do these things not matter?",
    "Does this thing not matter?", "Does another man not matter?", "Does Anna not matter?",
    "Do cats in a house not matter?", "Does a cat in boxes not matter?", "Does it, on the whole, not matter?",
    "Did the men, too, not want to go?", "Can what he says not be true?", "Can the man in the house not be late?",
    "Can the late man not be here?", "Could the child in red not do it?", "Should the man in charge not do more?",
    "Should the old not do more?", "Should the very rich not pay?", "Would the boy with the ball not play?",
    "Would the swimming pool not help?", "Would more help not help?", "Would two not help?",
    "Would the two not help?", "Would five of them not help?", "Would Mark not help Anna?",
    "Would Anna's help not matter?", 'Would "stop" not help?', "Would the fact that it works not help?",
    "Would the men that help not win?", "Would a man like Tom not help?",
    "Would the men at the end of the line not help?", "Would the men to ask not help?",
    "Would the cook not cook rice?", "Would fear not stop him?", "Would the work of men not stop?",
    "Would the man not work of late?", "Would the man not work to win?", "Would the man not work singing songs?",
    "Would the last run not help?", "Would the long run not hurt?", "Would dry land not help?",
    "Did the plan for you people not work?", "Did the change not work in towns?", "Did house prices not drop in May?",
    "Do the boys not dance like birds?", "Does the lamp that a room house needs not shine?",
    "Is the old man not here?", "Is the house near the river not old?", "Is the house not near the river?",
    "Is the house not on fire?", "Is gold not really heavy?", "Is the king not English?",
    "Is the English king not dead?", "Is the running man not old?", "Is the boy called Tom not tall?",
    "Is the boy not taller than Anna?", "Is the book not mine to keep?", "Is that not the end?",
    "Are whales not fish?", "Are cats and dogs not animals?", "Are the men not here?",
    "Are the things that we need not cheap?", "Was the shop not closed the whole day?",
    "Was the door not painted red?", "Was the painted door not red?", "Was the play not by Anna?",
    "Was Anna's play not good?", 'Was the "stop" sign not red?', 'Was the sign "stop" not red?',
    "Were the men not to wait?", "Were those men not red?", "Were the cows not brown and white?",
    "Were the cows not brown when young?", "Is that small bank not open?", "Is that not small?",
    "Are those old men not here?", "Are these not the keys?", "Are these keys not yours?",
    "Is that house on the hill not old?", "Is the number of cats not small?", "Is the man who cooks not a nurse?",
    "Is the man that cooks not running?", "Is the man in the house not asleep?", "Is the box not red on top?",
    "Is the red box not on the table?", "Is the box not always red?", "Is the box not for Anna?",
    "Is the box for Anna not red?", "Is Anna Smith not red?", "Is Anna not a Smith?", "Is hers not red?",
    "Is half of it not red?", "Is swimming in the sea not hard?", "Is seeing not believing?",
    "Are the king and the queen not rich?", "Are the men not kings of old?", "Are men not kings?",
    "Are the old kings not men?", "Are the cooks not men who work?", "Are the books that we read not old?",
    "Are the boys not running?", "Are the boys not running in the park?", "Are the boys in the park not running?",
    "Are the running boys not in the park?", "Are the boys not seen by them?", "Are the boys not like Anna?",
    "Are the boys like Anna not tall?", 'Are the boys not "tall"?', "Are 7 of 10 cats not red?",
    "Are ten cats not red?", "Are cats not 7?", "Are the cats not both red?", "Are the cats not theirs?",
    "Was the vase not broken into bits?", "Was the cut flower not red?", "Was the fish not caught raw?",
    "Was the open shop not full?", "Was the light not light?", "Was the light not on when he left?",
    "Was the game not sport?", "Was the game not over?", "Was the game not a draw?", "Was gold not money?",
    "Was old gold not good?", "Was the old not good?", "Has the man in red not left?", "Have cut flowers not died?",
    "Has the broken vase not been sold?", "Has the boy not eaten in the house?", "Has broken glass not been found?",
    "Has the run not ended?", "Has the man with cut hands not left?", "Has Tom not cut it?",
    "Has the man not really cut it?", "Have they not all left?", "Have the men not been told?",
    "Have the men not done well?", "Have you not had enough?", "In which city do they not live?",
    "To whom did he not speak?", "If it rains what do you not do?", "What do plant cells not need?",
    "What did the end of the war not cause?", "What did the fall of Rome not cause?", "Where did the river not run?",
    "Where do people who play golf not live?", "Where do people that can drive not live?",
    "When did the ship not sail?", "Which plants do cows not eat?", "Which tools do the men not work with?",
    "Where did the houses not sell?", "Where did prices not rise?", "Since the war what has not changed?",
    "Which man has not eaten?", "What has the man not eaten?", "Why has the woman with the sold house not left?",
    "What has not been done?", "Which cat has it not been?",
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
        *("He may come.", "You might be right.", "May the boy leave?", "Do you like tea?", "He can also swim."),
        *("Three dogs bark.", "Two of the dogs bark.", "He sometimes swims.", "The cat yawned and stretched."),
    ],
)
def test_what_may_be_true_beside_its_opposite_is_of_medium_confidence(text: str) -> None:
    assert negate(text).confidence == "medium"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Iron is a metal.", "insert"),
        ("Who can swim?", "insert"),
        ("Dogs bark.", "rewrite"),
        ("Close the door.", "rewrite"),
        ("Some dogs bark.", "rewrite"),
        ("Does iron rust?", "rewrite"),
        ("Iron is not a gas.", "remove"),
    ],
)
def test_a_negation_says_how_it_was_made(text: str, kind: str) -> None:
    assert negate(text, existing_negation="remove").kind == kind


@pytest.mark.parametrize("text", ["Iron is a metal.", "One of the dogs barks.", "Can the dog swim?", "Some dogs bark."])
def test_a_plain_opposite_is_of_high_confidence(text: str) -> None:
    assert negate(text).confidence == "high"
