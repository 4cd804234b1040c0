"""Where the main verb and the subject of a sentence are."""

from __future__ import annotations

import pytest

from contrapose.tasks.language.analysis import analyse
from contrapose.tasks.language.odds import relative_odds
from contrapose.tasks.language.reading import read

MAIN = (
    "The dogs that bark *scare me.", "The cake my mother baked *tasted wonderful.", "The man who is tall *is happy",
    "Studies *show that plants need water.", "When the eggs hatch, the offspring *are",
    "The company, which was founded in 1990, *makes cars.", "The government *announced plans to cut taxes.",
    "The house where I grew up *burned down.", "Many people *think cats see in the dark.",
    "The movie, I think, *starts at eight.", "May *is my favorite month.", "Bill *paid the bill.",
    "That he left *surprised us.", "Five plus seven *equals twelve.",
    "The pigment that makes leaves green *is chlorophyll.", "The train that stops *leaves late.",
    "The water *was heated and weighed.", "The film, I think, *starts at eight.", "Mr. Smith, I think, *left.",
    "The *dog's sleeping.", "Now that it rains, the field *is wet.", "While driving, he *sang.",
    "If possible, *send a letter.", "If it rains, *stay inside.", "As soon as the bell rings, the children *leave.",
    "Strange as it seems, the plan *worked.", "A prism *splits light.", "Many *sold their houses.",
    "Some *left early.", "Others *sold their houses.", "This *means that he lied.", "These *need water.",
    "That *costs money.", "This house *costs money.", "Anna, a maker of aids, *works at home.",
    "The announced plans *failed.", "The story *cried.", "Growing plants *needs care.", "Growing plants *need care.",
    "What she said *hurts.", "A number of dogs *bark.", "Plants grown in pots *need water.",
    "People living here *drive.", "The people here *drive cars.", "I *am sure he left.", "The food they eat *is cold.",
    "The boy that I saw yesterday *sings.", "That book *is old.", "I *know that.",
    "The idea that birds fly south *is old.", "He *is taller than she is.", "The teacher who taught us *left.",
    "The things which matter *cost little.", "How to cook rice *is a secret.", "The box in which it lies *is red.",
    "In the garden roses *grow.", "The complex houses *married soldiers.", "A meal *consists of soup.",
    "The house of cards *fell.", "The city called Bath *has springs.", "Snow rarely *falls on this coast.",
    "Her being late *meant trouble.", "Wool *comes from sheep.", "My friend *works on HR.", "The cat *yawned.",
    "Because to err is human, we *forgive.", "The old, wounded in war, *left.",
)  # fmt: skip
"""Sentences with a star before their main verb."""
KINDS = {
    "order": (
        "Close the door.", "Be quiet.", "Have a seat.", "Have a great day.", "Do sit down.", "Let's go.",
        "Please close the door.", "Always wear a helmet.", "List three impacts.", "So let's accept it's true,",
        "Please help.",
    ),
    "polar": (
        "Is the sky blue?", "If it rains, then is the match cancelled?", "Anna, is it late?",
    ),
    "wh": (
        "Which gas do plants take in?", "If it rains, what happens?", "What is the capital of france",
        "which planet is closest to the sun", "who wrote hamlet", "who can swim",
        "What date is the amount of daylight minimized", "If it rains, who stays?",
        "When it rains in May what do you do?",
    ),
    "fragment": (
        "Tower Building of the Little Rock Arsenal.", "when the sun sets", "When heat is added to something",
        "where x is a real number.", "Because it rained.", "Risk factors.", "Feature films.", "The dog's food bowl",
        "Anna's tall sister.", "Without it's mother.",
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
    *("Wool comes from sheep.", "Snow rarely falls on this coast.", "Dogs bark.", "The announced plans failed."),
    *("A prism splits light.", "As long as it rains we stay.", "These dry quickly.", "Those who sow and reap eat."),
    *("The bands played loudly.", "Anna, a lover of cakes, bakes."),
]
SUBJECTS = (
    "While driving, |he sang.", "As soon as the bell rings, |the children leave.",
    "Because it rained, |the match ended.", "In the garden, |roses grow.", "Well, |it works.",
    "Question: |The sky is blue.", "|Now is the time.", "|To err is human.", "Running, |he fell.",
    "|Running shoes, old or new, need care.", "In the end, |Tom, however, left early.",
    "In the morning, |cold winds blow.", "Despite the rain, |the match went ahead.",
)  # fmt: skip
"""Sentences with a bar before their subject."""

SURE = (
    "The man *sat down and +ate.", "The man *sat down, +ate and +left.",
    "The bus *stops here and the train +stops there.", "The water *was heated and weighed.",
    "The dog and the cat *sleep.",
    "The shop *sells bread and the baker +sleeps.", "He *came, +saw, +ate, +sang, +left and +slept.",
    "In winter, snow often *falls.", "In the morning, cold winds *blow.", "On Monday, in Paris, old friends *met.",
    "When the rain stops, in the garden, birds *sing.", "Running, he *fell.", "Driving his car, Tom *sang.",
    "After dinner, we often *walk.", "What you need, he said, *is rest.", "So it *goes.",
    "So many people *came that we ran out of food.", "Instead of tea, she *drinks milk.",
    "Please *note that the shop is closed.", "Please *help.", "*Do tell me.", "*Have some tea.", "*Be careful.",
    "*Let's eat.", "Anna, the nurse, *is here.", "In 1990 they *read the book.", "They *read the book in 1990.",
    "They *read the book every day.", "Yesterday they *cut the grass.", "They *cut the grass every week.",
    "They *put salt on the road.", "We *found gold.", "The boys *hit the ball yesterday.",
    "The boys *hit the ball often.", "I *hit the wall.", "The girls *found schools.", "The lamps *lit the road.",
    "The sheep *hit the fence.", "The fish *hurt the boys now.", "These tools *cut wood.",
    "The farmers *spread seed in 2004.", "The farmers *spread seed in 3004.", "The farmers *spread 20045 seeds.",
    "The number of cats *grows.", "The group of boys *laughs.", "The police *know.", "The news *is good.",
    "It weighs 5 g. It *sinks.", "It takes 5 s. He *waits.", "He *lives in the U.S.A. now.",
    "It *costs approx. five pounds.", "It opens at 9.30. We *wait.", "The cat *sat vs. the dog.",
    "She *met Prof. Hill yesterday.", "*See fig. 3 for details.", "No. 7 *is red.", "He *said 'stop' twice.",
    "The 'old' house *burned.", "The word “stop” *is red.", "He *bought 1,000 nails.", "He *came, 20 men left.",
    "The man (who is old) *sleeps.", "The man [the old one] *sleeps.", "HE *MET BILL.", "Then WHO *met the US team.",
    "This *is the end.", "This end *is broken.", "That *hurts.", "Those works *are old.", "These *help.",
    "This *changes nothing.", "This *sounds good.", "That *sounds good.", "That *looks odd.",
    "This house *sounds good.", "Many *know him.", "Many *died.", "Both *know it.", "Two plus two *makes four.",
    "Two times two *equals four.", "Three cats *sleep.", "Two men *sleep.", "50 ants *sleep.", "The 50 ants *sleep.",
    "Route 66 *crosses the desert.", "Chapter two *opens with rain.", "To win *means work.",
    "Having been late, he *ran.", "Being tired, she *slept.", "It *has been raining.", '"Stop" *means stop.',
    '"Stop" *turned red.', 'The word "stop" *turned red.', "The wounded *died.",
    "The song that they sang along *rose.", "*Watch the dogs.", "*Watch out for dogs.", "*Look what happened.",
    "*Ask who left.", "*Ask if it works.", "*Guess why it broke.", "Please *find out.", "If it rains, *take a coat.",
    "If it rains, coats *help.", "Before you leave, *close the door.", "In case of fire, *leave the house.",
    "The dog and cat *sleep.", "Cats and dogs *fight.", "Cats *sleep and dogs +fight.", "He *came but +left.",
    "He *came or +left.", "He *opened the door and +closed the window.", "He *was seen and heard.",
    "He *has eaten and slept.", "He *is old, and she +is young.", "He *is old, she +works.",
    "Either he *is late or she +forgot.", "The class *called the teacher.", "The ship called Mary *sank.",
    "The ship *named the captain.", "The boy given a book *smiled.", "The boy given the book *smiled.",
    "The man known as Tom *left.", "The men *thought of home.", "The man *died of cold.", "The price of bread *rose.",
    "The houses of stone *burned.", "The book written by Anna *sells.", "The car driven *is old.",
    "The car washed *is old.", "The fact that it works *helps.", "He *says it works.", "He *says that it works.",
    "They *want to wait.", "They *asked to leave.", "The men *went to Rome.", "The children *play in the park.",
    "The children left in the park *cried.", "The children *like Anna.", "The dogs *need bones.",
    "The need for speed *grows.", "He *needs help.", "They *need help.", "They *dare not.", "They *saw Anna.",
    "The boys *met Anna.", "Risk factors *vary.", "The house *stands.", "The bands *played loud.",
    "The bands *played loudly.", "The plan *worked well.", "The man *turned green.", "The leaves *turn red.",
    "The boys *stopped running.", "The boys *stopped cars.", "The company *announced plans.",
    "The girls *raised money.", "Dogs *chase cats.", "A dog *chases cats.", "The dog *hunts foxes.",
    "Fruit *flies like bananas.", "The man *had had enough.", "He *will have had enough.", "He *had a cold.",
    "He *can have it.", "The will *is lost.", "A will *is needed.", "The king's will *is done.",
    "Anna's will *is done.", "The might of Rome *fell.", "Might *has won.", "May *has begun.", "I *know it's late.",
    "To have *is good.", "To do it *takes time.", "They *did have it.", "They *did often have it.",
    "They *have had it.", "What makes people happy *helps.", "The sun *keeps the stones warm.",
    "The sun *keeps warm stones.", "The cook *makes the soup thick.", "The man who drives old cars *sings.",
    "The man who drives people mad *sings.", "The noise *makes me mad.", "The food that smells *is old.",
    "The food which the old cat likes *smells.", "I *think cats smell.", "I *think the cats smell.",
    "I *think that cats smell.", "I *am sure cats smell.", "I *am sure the cat sleeps.", "I *am glad she came.",
    "We *are afraid that it broke.", "We *are aware of it.", "She *is certain Tom left.", "He *said he saw she left.",
    "He *believes they think she knows it works.", "The man who thinks it works *sings.",
    "The girl whose dog barks *sings.", "The reason why he left *is clear.", "The reason he left *is clear.",
    "What to do *is clear.", "Who to ask *is clear.", "Where to go *is clear.", "Which to buy *is clear.",
    "When to stop *is clear.", "Whether to go *is clear.", "Whether he goes *is clear.",
    "The extent to which it works *varies.", "The box in which it lies *broke.", "While in Rome, he *sang.",
    "While tired, he *sang.", "When asked, he *sang.", "If broken, it *leaks.", "Though old, it *works.",
    "If he asks, it *works.", "That *is clear.", "That car *is old.", "That people lie *is clear.",
    "Given that it works, we *stay.", "It *is better than that is.", "It *is as old as that is.",
    "He *knows that and she +knows this.", "He *saw that film.", "He *saw that it works.",
    "As soon as it rains, we *go.", "As long as it rains we *stay.", "As far as I know, it *works.",
    "As much as I like it, I *left.", "Just as he came she *left.", "He *left as she came.",
    "He *left as soon as she came.", "Old as it is, it *works.", "Hard as he tried, he *failed.",
    "As he left, it *rained.", "As a boy, he *sang.", "After lunch, he *sang.", "After he ate, he *sang.",
    "After he ate he *sang.", "Before it rains, the ants *hide.", "Since Monday, it *has rained.",
    "Since it rained, we *stayed.", "Until it stopped we *stayed.", "He *is older than I thought.",
    "He *runs faster than she does.", "He *has more than he needs.", "He *sings like birds do.",
    "He *sings like a bird.", "He *sang after the boys left.", "He *sang after lunch.", "He *sang before it rained.",
    "Anna, a lover of cakes, *bakes.", "In May, a lover of cakes, *bakes.", "The town, once rich, *fell.",
    "The town, home to kings, *fell.", "The king, who was old, *died.", "Stones, which sink, *help.",
    "Walls *need paint.", "At the inn, travellers *rest.", "Near the sea, rest *is easy.", "In bees, wings *hum.",
    "Because of rain, shops *close.", "With help, boys *learn.", "Sold goods *stay.", "The goods *sold.",
    "The goods sold *were old.", "The goods *cost money.", "An owl *hunts mice.", "Every prism *bends light.",
    "Each dog *barks.", "Another bus *comes.", "This prism *bends light.", "A glass prism *bends light.",
    "A dog *hunts.", "Prisms *bend light.", "The prisms *bend light.", "The sheep *eat grass.",
    "The sheep *eats grass.", "The soldiers *stood guard.", "The fire *died.", "The children *laughed.",
    "The rained-out match *ended.", "I always *drink tea.", "You *sit.", "Note: Dogs *bark.",
    "Statement: However, dogs *bark.", "However, dogs *bark.", "Now, dogs *bark.", "Now dogs *bark.",
    "Now *is the time.", "And yet it *moves.", "Ok so dogs *bark.", "The dog *blorped the cat.", "The blorp *sleeps.",
    "She *overwinters here.", "They *outlive us.", "He *undid it.", "She *misread it.", "The de-iced wing *froze.",
    "The sun-dried fruit *sold.", "They *livestreamed it.", "They *levelled it.", "They *totalled it.",
    "She *photosynthesizes.", "Sugars *caramelise.", "He *undergoes tests.", "The man who sat and read *smiled.",
    "The girls who sing and dance *win.", "The dog that barks and bites *sleeps.",
    "If it rains or snows, *stay inside.", "If it rains or snows, shops *close.",
    "Although he ran and jumped, she *won.", "When the sun rises and the birds sing, he *wakes.",
    "He *says it rains and snows.", "Those who sow and reap *eat.", "The boys *like to swim.", "These *dry quickly.",
    "Those *open at noon.", "These cold winds *hurt.", "You *put salt on it.", "You *cut the grass.",
    "I *put it there.", "She and I *put it there.", "They *hit it hard.", "The men *hit it.", "Men often *hit it.",
    "Everyone *cut it.", "As long as the war lasted, prices *rose.", "As old as the house is, it *stands.",
    "The birds that live near the sea *eat fish.", "Those who sow and reap and sell *eat.",
    "Films *show lovely faces.", "The road to Rome *stops here.", "Prices higher than that *hurt.",
    "He *said he was late, sat down and ate.", "He *says he works and she sleeps.",
    "That he read the book *pleased us.", "The need for that *is clear.", "A plan like that *works.",
    "Things as low as that *stopped him.", "The week after that *was cold.", "People *help, and that was good.",
    "Paris *falls.", "House prices *fell.", "The plan *worked and +failed.", "The food that cats like *smells.",
)  # fmt: skip
"""Sentences with a star before their main verb, and a plus before the verbs of further clauses."""
UNSURE = (
    "Dr. A. Smith *lives here.", "*Answer the question:", "These leaves *fall.", "All *agree.",
    "The place where I grew up *changed.", "The man with red hair *left.", "The man near the door *left.",
    "The house, built in 1990, *burned.", "The house, built in 1990 *burned.", "The cakes, baked at home, *sold well.",
    "The girls, tired and hungry, *left.", "The men *heard of it.", "The dogs *like bones.", "The boat *sails south.",
    "The cook who makes the soup thick *sings.", "The song that made the singer rich *sold well.",
    "The frost that left the road white *melted.", "The man who said that the boy who left lied *sings.",
    "The day when it rained *ended.", "That it works *is clear.", "The boys, dogs and cats *left.",
    "The prism *bends light.", "The crew *re-entered the ship.", "The boys *like cats.",
    "Those made of wood *burned.", "In May, that *is open.",
    "Boys that cook well *need us.", "The *boy's happy.", "The *boy's a star.", "The *boy's quickly eating.",
    "*Anna's tall.", "Most *eat meat.", "Swimming *helps.", "*Watch carefully.", "*Watch in silence.",
    "*Note that it works.", "*Water the plants.", "*Water them.", "Before you leave *close the door.",
    "The dog and cat food *sells.", "The claim that he lied *hurt.", "Knowing how to cook *helps.",
    "Once he left it *worked.", "Until noon it *rained.", "The film, I think, *is good.", "In the sea fish *swim.",
    "In summer bees *hum.", "The deer *run.", "The sun *rose.", "These dry leaves *burn.", "These open doors *help.",
    "As soon as he left she *wept.", "These *sold well.", "This *cost money.", "That play *ran for years.",
    "The girls *sang when she ran and wrote old plays.", "That the noise stopped *helped.",
    "The price for that *rose.", "If it rains, that *works.", "Now, that *was clean.",
)  # fmt: skip
"""The same where another reading is not much less likely."""
AMBIGUOUS = (
    "How to win is known.", "The men who left cut it.", "Later than that prices rose.", "Those work.",
    "Anna, my sister, works here.", "In May it rains.", "The machine that cuts trees short works.",
    "The man who thinks that it works sings.", "The man for whose sake it works left.",
    "How to help shows in his work.",
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
    who = {verb: read(f"The man who {verb} here left.") for verb in ("slept", "jumped", "works")}
    sure, likely, unlikely = (relative_odds(each, each.words.index(verb)) for verb, each in who.items())
    assert unlikely + 1 < likely < sure < likely + 0.5
