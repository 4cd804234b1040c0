"""Clause by clause: what a reply says for or against a letter, and how much of it counts."""

from __future__ import annotations

import pytest

from contrapose.tasks.language.replies.balance import implied
from contrapose.tasks.language.replies.evidence import ReplyEvidence, evidence
from contrapose.tasks.language.replies.predicates import Strength, verdict
from contrapose.tasks.language.replies.rewrites import rewritten
from contrapose.tasks.language.replies.statements import statements
from contrapose.tasks.language.replies.text import canonical

LETTERS = (("A", "B"), ("B", "A"))
SAID = [
    (
        "Summary {x} keeps both dates. Summary {y} gets the second date wrong, and I lean to Summary {x} on balance.",
        "-y +x!",
        "x",
    ),
    ("Summary {y} has the year wrong, which leaves Summary {x} over the other.", "-y +x!>", "x"),
    ("Summary {y} gets the place wrong, so we are left with its rival, and I trust Summary {x} more.", "-y +x!", "x"),
    ("Summary {y} invents a quote. I find Summary {x} to be the better account of the vote.", "-y +x!", "x"),
    ("Summary {x} has the right order of events; Summary {y} does not.", "+x -y>", "x"),
    ("Summary {x} gets the vote right; Summary {y} does not, as it says 5.", "+x -y>", "x"),
    ("Summary {y} gets the vote wrong; Summary {x} does not.", "-y +x>", "x"),
    ("Summary {x} does not misstate the vote; Summary {y} does.", "+x~ -y>", None),
    ("Summary {x} contains no error; Summary {y} does.", "+x~ -y>", None),
    ("Summary {x} tells of a vote; Summary {y} does not.", "", None),
    ("Summary {y} tells of 5 votes. But the article gives 50. Summary {x} is right about the votes.", "+x", None),
    ("Summary {y} says 5, while the article says 50, and Summary {x} has the right number.", "-y> +x", "x"),
    ("While Summary {y} says 5, the article says 50, and Summary {x} has the right number.", "-y> +x", "x"),
    ("The article says 50. Summary {x} says the same, and Summary {y} gets the number wrong.", "+x -y", "x"),
    ("The article says 50, but Summary {y} says 5. Summary {x} is accurate about this.", "-y> +x", "x"),
    ("The article says 50, but Summary {y} says 5. Summary {x} reflects this.", "-y> +x", "x"),
    ("Summary {x} says 50, just as the article does. Summary {y} gets it wrong.", "+x> -y", "x"),
    ("Summary {x} says 50, like the article. Summary {y} says 5, contrary to the article.", "+x> -y>", "x"),
    ("Summary {x} says 50, unlike the article. Summary {y} is accurate about it.", "-x> +y", "y"),
    ("Summary {y} names the wrong town, which the article does not. Summary {x} names the right one.", "-y +x", "x"),
    ("The article backs up what Summary {x} says, and there are errors in Summary {y}.", "+x -y>", "x"),
    ("The article does not support Summary {y}, and Summary {x} is accurate on the vote.", "-y +x", "x"),
    ("The error lies with Summary {y}, and the article confirms what Summary {x} says.", "-y> +x", "x"),
    ("I prefer this one over Summary {y}, since Summary {x} is right about the vote.", "-y! +x", None),
    (
        "The choice cannot be Summary {y}, because it gets the vote wrong, whereas the other one is right.",
        "-y! -y +x",
        "x",
    ),
    ("It cannot be Summary {y}. The vote in Summary {x} is correct.", "-y! +x", None),
    ("Summary {y} gets the vote wrong. So not that one. Summary {x} is accurate about it.", "-y -y! +x", "x"),
    ("Summary {y} gets the vote wrong, but the other one gets it right.", "-y +x>", "x"),
    ("Summary {x} gets the vote right, while the other summary gets it wrong.", "+x -y", "x"),
    (
        "Although Summary {y} is right about the town, it gets the vote wrong, and Summary {x} gets it right.",
        "-y> +x>",
        "x",
    ),
    ("True, Summary {y} gets the town right. However, it misstates the vote. Summary {x} is accurate.", "-y> +x", "x"),
    ("Should Summary {y} be right, the vote was won. Summary {x} says it was lost, which is correct.", "+x>", None),
    ("Is Summary {y} wrong about the vote? It is wrong. Summary {x} is right about it.", "-? +x", None),
    (
        "Summary {y}'s author is right about the vote. Summary {x} gets it right, and Summary {y} gets it wrong.",
        "+? +x -y",
        "x",
    ),
    ("Summary {x}'s account is accurate, and Summary {y}'s figure is wrong.", "+x -y", "x"),
    ("Summary {y} is more detailed but wrong about the vote, and Summary {x} is right about it.", "-y> +x", "x"),
    (
        "Summary {x} gets the place right and the date right, Summary {y} the place right but the date wrong.",
        "+x +x +y -y>",
        "x",
    ),
    ("Summary {y} gets the place right but the date wrong. Summary {x} gets both right.", "+y -y> +x", None),
    ("Summary {x}, which keeps the order, is accurate, and Summary {y}, which swaps it, is wrong.", "+x -y> -y", "x"),
    ("Summary {x} is more accurate than Summary {y}, which gets the vote wrong.", "+x! -y>", "x"),
    ("Summary {x} is more accurate than Summary {y}, which is right about the vote.", "+x! +y>", None),
    ("Unlike Summary {y}, which gets the vote wrong, Summary {x} is accurate.", "-y> +x", "x"),
    ("Compared with Summary {y}, Summary {x} is accurate, and Summary {y} invents a quote.", "+x -y", "x"),
    ("Summary {x} is not wrong about the vote, and Summary {y} is wrong about it.", "+x~ -y", None),
    (
        "Summary {x} is not wrong about the vote. It is also right about the town. Summary {y} is wrong about it.",
        "+x~ +x -y",
        "x",
    ),
    (
        "Summary {x} is right about the vote but wrong about the town, and Summary {y} is wrong about both.",
        "+x -x> -y",
        None,
    ),
    (
        "Summary {x} is wrong about the vote but right about the town, and Summary {y} is wrong about both.",
        "-x +x> -y",
        "x",
    ),
    (
        "Summary {x} is right about the vote and wrong about the town, and Summary {y} is wrong about both.",
        "+x -x -y",
        None,
    ),
    (
        "Summary {x} is right about the vote. Summary {y} is wrong about the vote. I cannot tell which is older.",
        "+x -y",
        None,
    ),
    ("Summary {x} is right about the vote. Summary {y} is wrong about the vote, perhaps.", "+x -y", None),
    ("Summary {x} is right about the vote. Group {y} is wrong about it.", "+x -y", None),
    ("{x} is right about the vote, and {y} is wrong about the vote.", "+x -y", None),
    (
        "Summary {y} says that the bridge fell, and that is wrong. Summary {x} says that it stands, and that is right.",
        "-y +x",
        "x",
    ),
    ("Summary {y} says that the bridge fell, which it did not, and Summary {x} gets this right.", "+x", None),
    (
        "Summary {y} mentions a fire, though the article mentions none. Summary {x} matches the text in this.",
        "-y> +x",
        "x",
    ),
    ("Summary {x} mentions the flood that the article mentions. Summary {y}, though, makes up a fire.", "-y", None),
    ("Nothing in Summary {x} contradicts the article. Summary {y} contradicts it twice.", "+x~ -y", None),
    ("Everything in Summary {x} is backed by the article. Part of Summary {y} is not.", "+x", None),
    ("Summary {x} is faithful to the article, making Summary {y} the worse of them.", "+x -y!", None),
    ("Summary {x} is accurate, making it the better one, and Summary {y} gets the vote wrong.", "+x +x! -y", "x"),
    ("Summary {y} is inaccurate, and so the pick is Summary {x} over the other.", "-y +x!", "x"),
    ("Not Summary {y}, since it is wrong about the vote, which the other gets right.", "-y> -y +x>", "x"),
    ("Contrary to Summary {y}, the vote was won. Summary {x} is right about that.", "-y! +x", None),
    ("As stated in Summary {x}, the vote was won, and Summary {y} gets that wrong.", "+x -y", "x"),
    ("Had Summary {y} been right, the vote was lost. Summary {x} is accurate. Summary {y} is wrong.", "+x -y", "x"),
    ("Summary {x} is accurate about the dates, and Summary {y} matches none of them.", "+x -y", "x"),
    ("Summary {x} is accurate, and Summary {y} contradicts nothing that the article says.", "+x +y~", None),
]
"""Replies; what each says for or against a letter, with ! where it ranks them, > where it is said against what stands
before it, ~ where it is no more than "not wrong"; and the letter that it comes to."""


def told(said: ReplyEvidence) -> str:
    marks = "!" * said.ranks + ">" * said.turned + "~" * (not said.is_plain)
    return f"{'+' if said.is_good else '-'}{said.letter or '?'}{marks}"


@pytest.mark.parametrize(("x", "y"), LETTERS)
@pytest.mark.parametrize(("reply", "said", "chosen"), SAID)
def test_all_that_is_said_for_or_against_a_letter_is_found_and_weighed(
    reply: str, said: str, chosen: str | None, x: str, y: str
) -> None:
    text, swapped = reply.format(x=x, y=y), str.maketrans("xy", f"{x}{y}")
    assert " ".join(map(told, evidence(text))) == said.translate(swapped)
    assert implied(text) == (chosen and chosen.translate(swapped))


VERDICTS: dict[Strength | None, tuple[str, ...]] = {
    Strength.CHOICE: (
        "is more accurate than Summary A", "is more convincing", "is more suitable", "is most faithful", "is best",
        "is the best", "is the best option", "is better", "is better than A", "is better than Summary A",
        "is better than the other", "is better than the option above", "is better than both", "is superior",
        "is superior to Summary A", "is stronger", "is stronger than Summary A", "is preferable", "is closer",
        "is the correct summary", "is the accurate version", "is the answer", "is the right answer", "is my choice",
        "is my answer", "is the option", "better matches the article", "best matches the facts",
        "best reflects the article", "more closely matches the article", "matches better", "matches best",
        "reflects better", "wins", "wins by far", "has more accurate facts", "has more precise data",
        "has most reliable data", "is the one that matches the article", "is the only summary which is correct",
        "is clearly the one that is accurate", "should be chosen", "must be picked", "has to be preferred",
        "ought to be selected", "should clearly be selected", "is clearly preferable", "comes out ahead",
        "comes out well ahead", "is clearly on top", "has the edge", "takes the edge", "gets my vote", "wins my vote",
        "is the safer bet", "seems the sounder choice", "appears to be the better reading",
        "is the stronger of the two", "is the more careful account", "is the better and shorter version",
        "does a better job", "did a much better job", "is better at naming", "is what I would choose",
        "would be the one I'd pick", "is the answer I will go with", "is what to choose", "is undoubtedly the best",
        "would be the best",
    ),
    Strength.PRAISE: (
        "is consistent", "does not contradict the article", "does match the article", "does reflect the source",
        "doesn't distort the facts", "does not conflict with the text",
        "is closer to the text", "is closest to the facts", "is correct", "is correct with the article",
        "is consistent with the article", "is supported by the article", "is a correct choice",
        "is confirmed by the article", "is confirmed", "is verified", "is corroborated in the source", "is backed",
        "is in line with the article", "is in agreement with the text", "matches", "matches the article",
        "matches what the text says", "matches it", "matches the thing that the long and dull article says",
        "reflects it", "agrees", "agrees with the article", "captures the facts", "keeps the article's facts",
        "retains the content", "fits", "passes", "has it right", "has this right", "has it all correct",
        "has the correct year", "has correct facts", "has facts correct", "gives the right year",
        "gives a correct account", "gives an account that is right", "gets it right", "gets the year right",
        "makes it right", "offers the correct view", "provides accurate data", "states the year correctly",
        "correctly states the year", "accurately says what happened", "faithfully reports the vote",
        "reports faithfully", "notes the year correctly", "describes it correctly", "summarizes the article",
        "summarizes it accurately", "summarizes accurately the article", "says exactly what the article says",
        "says what the article says", "is what the article says", "says the same year as the article",
        "sticks to the article", "sticks closely to the facts", "stays true to what the article says",
        "remains faithful to the text", "hews to the source", "is loyal to the original", "is close to the article",
        "holds up", "holds true", "stands up", "checks out fully", "is correct by naming him",
        "is correct since it says so", "is correct as it says so", "is correct due to the date",
        "is correct for this reason", "is right. It wins", "is (correct)", "is absolutely correct", "must be right",
        "stays right", "seems right", "looks right", "remains consistent", "should be right",
    ),
    Strength.WRONG: (
        "is inconsistent", "is not consistent", "is not as accurate as Summary B", "was not confirmed by the text",
        "is not fully accurate", "is not absolutely right", "would not be right", "isn't corroborated by the text",
        "is not backed by it", "does not match the article", "does not match", "does not agree",
        "doesn't match the article", "isn't accurate", "wasn't right", "is more wrong",
        "is more misleading than Summary A", "is less accurate", "is wrong", "is wrong about the year",
        "is wrong on the year", "is wrong because it says 12", "is wrong; it says 12", "is a wrong summary",
        "is false", "is false to Summary A", "is worse", "is worse than Summary A", "is worse than A",
        "is contradicted by the article", "is misleading in places", "is misleading when read fast",
        "is misleading saying 12", "is erroneous if read closely", "is mistaken", "is swapped",
        "is reversed at the end", "is not verified by the text", "is at odds with the article",
        "is in conflict with the article", "is in direct conflict with the text", "is contrary to the article",
        "goes against the article", "clearly goes against the article", "runs counter to the text",
        "clashes with the article", "departs from the article", "strays from the article", "contradicts",
        "contradicts the article", "contradicts what is said", "contradicts a report",
        "contradicts a long and dull local news report", "conflicts with the article", "disagrees with the text",
        "misstates the year", "misstates the facts", "distorts the year", "invents a quote", "fabricates",
        "swaps two names", "confuses the two towns", "incorrectly says 12", "wrongly names the mayor",
        "fails to match the article", "fails to reflect it", "has an error", "has errors", "has a small error",
        "has one contradiction", "has a date in error", "has the number in error", "has a really bad date error",
        "has it wrong", "has the year wrong", "has wrong facts", "has the wrong idea", "has more errors",
        "gets it wrong", "gets the year wrong", "gets two names wrong", "makes a false claim", "makes things up",
        "makes it up", "made up a quote", "mixes up the names", "contains inaccurate data", "contains errors",
        "includes a mistake", "introduces an inaccuracy", "introduces errors", "provides less accurate data",
        "says the opposite of the article", "says the exact opposite of what the article says",
        "is the opposite of the text", "is the one that contradicts the article",
        "is the version that fails to match", "should be rejected", "must be ruled out", "can be eliminated",
        "is excluded", "appears wrong",
    ),
    Strength.REJECTED: (
        "is not more accurate", "isn't the most accurate", "does not best match it", "is not the best match",
        "is not the answer", "is not my pick", "fails", "fails to convince", "fails to mention the year",
        "omits the year", "omits",
    ),
    None: (
        "does not misrepresent", "is not backed", "isn't it", "is not", "is not the best", "is not easily told",
        "has", "gives", "is not better", "is not wrong", "does not contradict Summary B", "does match nothing",
        "does reflect the mood", "is more consistent than", "is better than", "is more", "is most",
        "is more like a story", "is more popular", "is most unclear", "is less of a story", "is less than perfect",
        "is better than nothing", "is better than I thought", "is better written", "is superior to expectations",
        "is correct with Summary B", "is correct as A", "is consistent with Summary B",
        "is consistent with A and the article", "is supported by Summary B", "is the text matched",
        "is a false alarm", "is worse than I thought", "is worse than nothing", "is contradicted by Summary B",
        "is confirmed by Summary B", "is not verified", "is in accord with Summary B", "is at odds with Summary B",
        "matches the article's tone", "matches what happened", "matches Summary A", "better matches Summary A",
        "reflects the mood", "agrees with Summary A", "agrees with me", "keeps the article's order",
        "keeps the order", "preserves the headline", "wins the day", "contradicts Summary A", "contradicts itself",
        "contradicts the facts in A", "conflicts with A", "disagrees with Summary A", "misstates A",
        "misstates Summary A", "distorts what Summary A says", "confuses me", "confuses the reader",
        "confuses readers", "confuses us all", "confuses some people", "has no error", "has some errors",
        "has minor mistakes", "has few inaccuracies", "has fewer inaccuracies", "has the wrong impression",
        "has more data", "has better facts", "has good style", "gives a wrong impression", "gets it wrong in part",
        "gets better", "makes no sense", "mixed up the names in part", "provides no correct data", "states the year",
        "says it", "says the same", "is the opposite", "claims the opposite", "is the better dressed one",
        "is rejected in part", "stays close to the article in part", "holds up badly enough", "checks out for now",
        "is better at school", "partly matches the article", "is partially right", "is right in some points",
        "is accurate to some degree", "is accurate and false", "is right at first", "is nearly right",
        "is right only", "is hardly right", "is correct in theory", "is correct in style", "is supposedly right",
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("predicate", "strength"), [(each, strength) for strength, several in VERDICTS.items() for each in several]
)
def test_what_is_said_of_a_summary_is_so_much_praise_or_blame(predicate: str, strength: Strength | None) -> None:
    assert verdict(predicate) is strength


@pytest.mark.parametrize(
    ("reply", "plain"),
    [
        ("Summary A (or B?)", "either (or B?)"),
        ("Summary A (yes), Summary B (no)", "Summary A: correct; , Summary B: incorrect; "),
        ("Summary A: yes", "Summary A: correct; "),
        ("Summary B - incorrect.", "Summary B: incorrect; ."),
        ("A yes B no", "A: correct;  B: incorrect; "),
        ("A correct, B wrong", "A: correct; , B: incorrect; "),
        ("A \u2611 B \u2716", "A: correct;  B: incorrect; "),
        ("J. K. Rowling wrote it.", "Rowling wrote it."),
        ("A. Smith wrote it.", "someone Smith wrote it."),
        ("B, the second letter, is short.", "someone, the second letter, is short."),
        ("B. and others wrote it.", "someone and others wrote it."),
    ],
)
def test_marks_become_words_and_initials_become_nobody(reply: str, plain: str) -> None:
    assert rewritten(reply) == plain


OF_TOPIC = [
    ("Summary {x} says 12. This is wrong.", (Strength.WRONG, 19, False)),
    ("Summary {x} says 12. This is right.", (Strength.PRAISE, 19, True)),
    ("Summary {x} says 12. Is this wrong?", None),
    ("Summary {x} says 12. This is wrong?", None),
    ("Summary {x} says 12. This is right if the article is.", None),
    ("Summary {x} says 12. This is the answer.", None),
    ("Summary {x} says 12. This is not the answer.", None),
    ("Summary {x} says 12. However, it says too much.", None),
    ("Summary {x} is accurate. However, it says too much.", (Strength.REJECTED, 23, False)),
    ("Summary {x} is accurate. Still, it says too much.", None),
]
"""Two sentences, and what the second, which names no letter, says of the one before it: how, where, and conceded."""


@pytest.mark.parametrize(("x", "y"), LETTERS)
@pytest.mark.parametrize(("reply", "said"), OF_TOPIC)
def test_a_sentence_without_a_letter_may_be_about_the_one_before_it(
    reply: str, said: tuple[Strength, int, bool] | None, x: str, y: str
) -> None:
    found = [each for each in statements(canonical(reply.format(x=x))) if each.position]
    assert [(each.letter, (each.strength, each.position, each.conceded)) for each in found] == [
        (x, each) for each in (said,) if each
    ]
