"""Questions on which a "not" once stood in the wrong place, one row for each kind."""

from __future__ import annotations

import pytest

from contrapose.tasks.probes.negation import negate

ASKING = [
    ("What is orange juice often kept in?", "What is orange juice not often kept in?"),
    ("Who was Tom sent to live with after the war ended?", "Who was Tom not sent to live with after the war ended?"),
    ("who is anna with at the end", "who is anna not with at the end"),
    ("Who was England at war with?", "Who was England not at war with?"),
    ("What is a Gantt chart a type of?", "What is a Gantt chart not a type of?"),
    ("What is the day after the feast known as?", "What is the day after the feast not known as?"),
    ("What is a shy person like?", "What is a shy person not like?"),
    ("What country is the band from?", "What country is the band not from?"),
    ("What is thickened skin called?", "What is thickened skin not called?"),
    ("What is the lake that they found named?", "What is the lake that they found not named?"),
    ("What is the man called today?", "What is the man not called today?"),
    ("What is he doing today?", "What is he not doing today?"),
    ("What is Anna planning to do with Tom?", "What is Anna not planning to do with Tom?"),
    ("What are the boys trying to find?", "What are the boys not trying to find?"),
    ("What is Ming the Bold going to use?", "What is Ming the Bold not going to use?"),
    ("Which game were Ann and Tom playing?", "Which game were Ann and Tom not playing?"),
    ("What are Ann, Tom, and Joe doing?", "What are Ann, Tom, and Joe not doing?"),
    ("What was the main point Anna made?", "What was not the main point Anna made?"),
    ("What is Anna's last painting?", "What is not Anna's last painting?"),
    ("Which is the main substance used to make soap?", "Which is not the main substance used to make soap?"),
    ("What is the range in which it would lie?", "What is not the range in which it would lie?"),
    ("What is a bias in decision making?", "What is not a bias in decision making?"),
    ("What is a good alternative to paper?", "What is not a good alternative to paper?"),
    ("What can cause female hip pain?", "What cannot cause female hip pain?"),
    ("What causes reduced vision?", "What does not cause reduced vision?"),
    ("Which of these factors increases the risk?", "Which of these factors does not increase the risk?"),
    ("Which of these drugs act at once?", "Which of these drugs do not act at once?"),
    ("Which of these increases callus formation?", "Which of these does not increase callus formation?"),
    ("Which set of rules represents the law?", "Which set of rules does not represent the law?"),
    ("What firm makes the best lamp a man can get?", "What firm does not make the best lamp a man can get?"),
    ("Which line is INCORRECT regarding the test?", "Which line is not INCORRECT regarding the test?"),
    (
        "About what percentage of adults was literate in 1950?",
        "About what percentage of adults was not literate in 1950?",
    ),
    ("What does dry skin look like?", "What does dry skin not look like?"),
    ("What does the picture found in the loft show?", "What does the picture found in the loft not show?"),
    ('What does the word "naff" stand for?', 'What does the word "naff" not stand for?'),
    ("Why did Tom change and extend the ending?", "Why did Tom not change and extend the ending?"),
    ("who does the voice of the cat", "who does not do the voice of the cat"),
    ("who did represent italy", "who did not represent italy"),
    ("What are you probably doing?", "What are you probably not doing?"),
    ("When it rains and you hear it, what can you do?", "When it rains and you hear it, what can you not do?"),
    ("If you meet a man who is rich what may you say?", "If you meet a man who is rich what may you not say?"),
    ("question1: Is it old question2: Who made it", "question1: Is it old question2: Who did not make it"),
]

STATED = [
    ("is the us open played on the same course every year", "the us open is", "played on the same course every year"),
    ("is the tv series star crossed based on a book", "the tv series star crossed is", "based on a book"),
    ("is the movie the beach based on a book", "the movie the beach is", "based on a book"),
    ("is john wick going to be a trilogy", "john wick is", "going to be a trilogy"),
    ("is one life to live still on tv", "one life to live is", "still on tv"),
    ("is the xbox one newer than the ps4", "the xbox one is", "newer than the ps4"),
    ("is condensed milk the same as milk", "condensed milk is", "the same as milk"),
    ("is hawaii part of the usa", "hawaii is", "part of the usa"),
    ("is the white house in the city", "the white house is", "in the city"),
    ("is a bolt action rifle considered a gun", "a bolt action rifle is", "considered a gun"),
    ("is the bible the best selling book in the world", "the bible is", "the best selling book in the world"),
    ("Are users (of any kind) responsible for the loss?", "Users (of any kind) are", "responsible for the loss."),
    ("Is Acme entitled to ask users to pay a fee?", "Acme is", "entitled to ask users to pay a fee."),
    ("Is Acme allowed to act without asking the owners?", "Acme is", "allowed to act without asking the owners."),
    ("Is a short walk after dinner associated with better sleep?", "A short walk after dinner is", None),
    ("will the wild card game be played", "the wild card game will", "be played"),
]

VERBS = [
    ("does the us still print bills", "the us still prints bills", "the us does not still print bills"),
    ("did dwyane wade make the playoffs", "dwyane wade made the playoffs", "dwyane wade did not make the playoffs"),
    ("Did Acme let children use it?", "Acme let children use it.", "Acme did not let children use it."),
    ("does the united states own it", "the united states owns it", "the united states does not own it"),
    (
        "does ocella cause high blood pressure",
        "ocella causes high blood pressure",
        "ocella does not cause high blood pressure",
    ),
    ("Does eBay charge fees?", "eBay charges fees.", "eBay does not charge fees."),
]

POLARITY = [
    ("do any states still charge tolls", "some states still charge tolls", "no states still charge tolls"),
    ("has anyone ever climbed it", "someone has climbed it", "no one has ever climbed it"),
    ("Has anything changed?", "Something has changed.", "Nothing has changed."),
    ("Are there any questions?", "There are some questions.", "There are not any questions."),
    ("Has he ever left?", "He has left.", "He has not ever left."),
    ("are all bones old", "all bones are old", "not all bones are old"),
]

REFUSED = [
    ("Which of these is LEAST likely to be true?", "semi_negative"),
    ("Which part least resembles a tooth?", "semi_negative"),
    ("Which city is bigger, Rome or Paris?", "alternative_question"),
    ("Who wrote it and how was it received?", "coordinated_clauses"),
    ("Which part closes and seals the lid?", "coordinated_clauses"),
    ("Is it old and where was it made?", "coordinated_clauses"), ("Which of these are used except?", "exception"),
    ("What is something good to eat?", "wh_subject_boundary"), ("What is it that you need?", "wh_subject_boundary"),
    ("What are the six signs of carbon monoxide poisoning?", "wh_subject_boundary"),
    ("Where is a good place for a nap?", "wh_subject_boundary"),
    ("When you think of it, you do what?", "wh_subject_boundary"), ("What does everyone eat?", "quantifier_only"),
    ("What does he sometimes eat?", "quantifier_only"), ("Does he sometimes eat?", "quantifier_only"),
    ("Is only the king old?", "quantifier_only"), ("Can water get any hotter?", "polarity_item"),
    ("Can you use any card?", "polarity_item"), ("does the game determines the field", "wh_subject_boundary"),
    ("did the club used to be in the league", "wh_subject_boundary"),
    ("is we bought a zoo based on a book", "wh_subject_boundary"), ("is 4k 4 times the size", "wh_subject_boundary"),
    ("is the saying this too shall pass in the bible", "wh_subject_boundary"),
    ("is the general rule that it must be paid", "wh_subject_boundary"),
    ("does copper sulphate dissolved in water to form a solution", "wh_subject_boundary"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "negated"), ASKING)
def test_a_not_stands_where_the_question_asks(text: str, negated: str) -> None:
    assert negate(text).text == negated


@pytest.mark.parametrize(("text", "subject", "predicate"), STATED)
def test_a_statement_is_split_behind_its_whole_subject(text: str, subject: str, predicate: str | None) -> None:
    made = negate(text)
    assert made.text.startswith(f"True or false: {subject} not ")
    assert made.text == made.original.replace(subject, f"{subject} not")
    assert predicate is None or made.text.endswith(f" not {predicate}")


@pytest.mark.parametrize(("text", "original", "negated"), VERBS + POLARITY)
def test_both_statements_are_grammatical(text: str, original: str, negated: str) -> None:
    made = negate(text)
    assert (made.original, made.text) == (f"True or false: {original}", f"True or false: {negated}")


@pytest.mark.parametrize(("text", "reason"), REFUSED)
def test_what_a_not_would_not_reverse_plainly_is_skipped(text: str, reason: str) -> None:
    assert negate(text).reason == reason


@pytest.mark.parametrize(
    "text",
    ["are the songs in the film from her band", "are ann and tom sisters in the show", "is anna in the film strong"],
)
def test_a_phrase_that_may_belong_to_the_subject_lowers_the_confidence(text: str) -> None:
    assert negate(text).confidence == "medium"
