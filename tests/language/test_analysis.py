"""Where the main verb and the subject of a sentence are."""

from __future__ import annotations

import pytest

from contrapose.tasks.language.analysis import analyse
from contrapose.tasks.language.odds import score_relative_verb
from contrapose.tasks.language.reading import read_sentence

MAIN = (
    "The dogs that bark *scare me.", "When the eggs hatch, the offspring *are",
    "Many people *think cats see in the dark.", "The movie, I think, *starts at eight.", "Bill *paid the bill.",
    "That he left *surprised us.", "Five plus seven *equals twelve.", "The water *was heated and weighed.",
    "The film, I think, *starts at eight.", "Mr. Smith, I think, *left.", "The *dog's sleeping.",
    "Now that it rains, the field *is wet.", "While driving, he *sang.", "If possible, *send a letter.",
    "As soon as the bell rings, the children *leave.", "Strange as it seems, the plan *worked.",
    "A prism *splits light.", "Others *sold their houses.", "Growing plants *needs care.",
    "Growing plants *need care.", "Plants grown in pots *need water.", "I *am sure he left.",
    "How to cook rice *is a secret.", "The box in which it lies *is red.", "Snow rarely *falls on this coast.",
)  # fmt: skip
"""Sentences with a star before their main verb."""
KINDS = {
    "order": (
        "Close the door.", "Have a seat.", "Let's go.", "List three impacts.",
    ),
    "polar": (
        "Is the sky blue?",
    ),
    "wh": (
        "Which gas do plants take in?", "which planet is closest to the sun", "who wrote hamlet",
        "What date is the amount of daylight minimized",
    ),
    "fragment": (
        "Tower Building of the Little Rock Arsenal.", "where x is a real number.", "Feature films.",
        "Without it's mother.",
    ),
    "statement": (
        "Dogs bark.", "The horse always wins.",
    ),
}  # fmt: skip
DOUBTED = (
    "Please fish.",
    "Some left early.",
    "My stomach dropped.",
    "These leaves fall.",
)
PLAIN = [
    *(
        "Wool comes from sheep.",
        "Dogs bark.",
    ),
    *(
        "A prism splits light.",
        "These dry quickly.",
    ),
    *("The bands played loudly.", "Anna, a lover of cakes, bakes."),
]
SUBJECTS = (
    "While driving, |he sang.", "As soon as the bell rings, |the children leave.", "|Now is the time.",
    "|To err is human.", "In the end, |Tom, however, left early.",
)  # fmt: skip
"""Sentences with a bar before their subject."""

SURE = (
    "The man *sat down and +ate.", "The water *was heated and weighed.", "The dog and the cat *sleep.",
    "In winter, snow often *falls.", "When the rain stops, in the garden, birds *sing.",
    "After dinner, we often *walk.", "So many people *came that we ran out of food.", "Please *help.", "*Let's eat.",
    "They *read the book in 1990.", "They *cut the grass every week.", "The boys *hit the ball yesterday.",
    "The girls *found schools.", "The fish *hurt the boys now.", "The farmers *spread seed in 3004.",
    "The farmers *spread 20045 seeds.", "The news *is good.", "It weighs 5 g. It *sinks.",
    "It *costs approx. five pounds.", "She *met Prof. Hill yesterday.", "He *said 'stop' twice.",
    "The 'old' house *burned.", "He *bought 1,000 nails.", "The man (who is old) *sleeps.",
    "Then WHO *met the US team.", "That *hurts.", "This *sounds good.", "This house *sounds good.", "Both *know it.",
    "Two plus two *makes four.", "Two men *sleep.", "Route 66 *crosses the desert.", "Having been late, he *ran.",
    '"Stop" *means stop.', '"Stop" *turned red.', "*Watch the dogs.", "*Ask who left.", "*Ask if it works.",
    "*Guess why it broke.", "If it rains, coats *help.", "Before you leave, *close the door.",
    "Cats and dogs *fight.", "He *came or +left.", "He *was seen and heard.", "He *is old, and she +is young.",
    "The class *called the teacher.", "The boy given the book *smiled.", "The man *died of cold.",
    "The book written by Anna *sells.", "The fact that it works *helps.", "They *want to wait.",
    "The children *play in the park.", "The dogs *need bones.", "They *dare not.", "Risk factors *vary.",
    "The bands *played loudly.", "The leaves *turn red.", "The company *announced plans.", "A dog *chases cats.",
    "The man *had had enough.", "The will *is lost.", "A will *is needed.", "The king's will *is done.",
    "Anna's will *is done.", "The might of Rome *fell.", "Might *has won.", "To have *is good.",
    "To do it *takes time.", "They *did have it.", "What makes people happy *helps.",
    "The sun *keeps the stones warm.", "The man who drives old cars *sings.", "The food that smells *is old.",
    "I *think the cats smell.", "I *am sure cats smell.", "I *am glad she came.", "He *said he saw she left.",
    "The girl whose dog barks *sings.", "What to do *is clear.", "Which to buy *is clear.",
    "Whether he goes *is clear.", "While in Rome, he *sang.", "If broken, it *leaks.", "That *is clear.",
    "That people lie *is clear.", "It *is as old as that is.", "He *saw that it works.",
    "As soon as it rains, we *go.", "As much as I like it, I *left.", "He *left as soon as she came.",
    "As he left, it *rained.", "After he ate, he *sang.", "Since it rained, we *stayed.",
    "He *runs faster than she does.", "He *sings like a bird.", "He *sang before it rained.",
    "The town, once rich, *fell.", "Stones, which sink, *help.", "Walls *need paint.", "In bees, wings *hum.",
    "With help, boys *learn.", "The goods sold *were old.", "Every prism *bends light.", "This prism *bends light.",
    "Prisms *bend light.", "The sheep *eats grass.", "The children *laughed.", "You *sit.", "Now, dogs *bark.",
    "Now *is the time.", "Ok so dogs *bark.", "The dog *blorped the cat.", "They *outlive us.",
    "The de-iced wing *froze.", "They *livestreamed it.", "They *totalled it.", "Sugars *caramelise.",
    "The man who sat and read *smiled.", "The girls who sing and dance *win.", "If it rains or snows, shops *close.",
    "He *says it rains and snows.", "The boys *like to swim.", "These cold winds *hurt.", "I *put it there.",
    "The men *hit it.", "As long as the war lasted, prices *rose.", "As old as the house is, it *stands.",
    "Films *show lovely faces.", "He *said he was late, sat down and ate.", "He *says he works and she sleeps.",
    "Things as low as that *stopped him.", "Paris *falls.", "The food that cats like *smells.",
)  # fmt: skip
"""Sentences with a star before their main verb, and a plus before the verbs of further clauses."""
UNSURE = (
    "These leaves *fall.", "The man with red hair *left.", "The house, built in 1990 *burned.",
    "The men *heard of it.", "The song that made the singer rich *sold well.", "The day when it rained *ended.",
    "The prism *bends light.", "Those made of wood *burned.", "In May, that *is open.", "The *boy's a star.",
    "Most *eat meat.", "*Watch in silence.", "Before you leave *close the door.", "Knowing how to cook *helps.",
    "Once he left it *worked.", "In the sea fish *swim.", "In summer bees *hum.", "These dry leaves *burn.",
    "These *sold well.", "The girls *sang when she ran and wrote old plays.", "Now, that *was clean.",
)  # fmt: skip
"""The same where another reading is not much less likely."""
AMBIGUOUS = (
    "How to win is known.", "Later than that prices rose.", "In May it rains.",
    "The man for whose sake it works left.", "How to help shows in his work.",
)  # fmt: skip
"""Sentences of which another reading is nearly as likely."""


@pytest.mark.parametrize("marked", MAIN)
def test_every_clause_has_one_verb_and_the_main_one_is_found(marked: str) -> None:
    analysis = analyse(marked.replace("*", ""))
    assert analysis.sentence.starts[analysis.clause.verb] == marked.index("*")


@pytest.mark.parametrize("text", AMBIGUOUS)
def test_a_sentence_with_two_likely_readings_is_ambiguous(text: str) -> None:
    assert analyse(text).ambiguous


@pytest.mark.parametrize("marked", SURE + UNSURE)
def test_the_verbs_of_all_main_clauses_are_found_and_how_sure_that_is(marked: str) -> None:
    s, *_, clause = analysis = analyse(marked.replace("*", "").replace("+", ""))
    found = s.text
    for i in sorted((clause.verb, *clause.others), reverse=True):
        found = f"{found[: s.starts[i]]}{'*' if i == clause.verb else '+'}{found[s.starts[i] :]}"
    assert found == marked
    assert (analysis.doubtful, analysis.ambiguous) == (marked in UNSURE, False)


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind, texts in KINDS.items() for text in texts])
def test_kind_of_a_sentence_is_recognised(kind: str, text: str) -> None:
    assert analyse(text).kind == kind


@pytest.mark.parametrize("marked", SUBJECTS)
def test_a_subject_stands_behind_labels_fillers_and_fronted_phrases(marked: str) -> None:
    analysis = analyse(marked.replace("|", ""))
    assert analysis.sentence.starts[analysis.subject] == marked.index("|")


@pytest.mark.parametrize("text", DOUBTED)
def test_a_verb_that_may_be_a_noun_or_a_participle_is_doubtful(text: str) -> None:
    assert analyse(text).doubtful
    assert not analyse(text).ambiguous


@pytest.mark.parametrize("text", PLAIN)
def test_plain_verb_is_not_doubtful(text: str) -> None:
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


def test_a_form_that_is_always_a_verb_counts_little_more_behind_who_than_one_that_often_is() -> None:
    who = {verb: read_sentence(f"The man who {verb} here left.") for verb in ("slept", "jumped", "works")}
    sure, likely, unlikely = (score_relative_verb(each, each.words.index(verb)) for verb, each in who.items())
    assert unlikely + 1 < likely < sure < likely + 0.5
