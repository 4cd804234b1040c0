"""Read the sentences of a reply whose options are replaced by marks: which option they choose or rule out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum

from contrapose.tasks.language.expression import expression
from contrapose.tasks.language.replies import clauses
from contrapose.tasks.language.replies.marks import BOTH, LETTER, MARK, TEXT, locate_mark, normalise_option


class Plainness(IntEnum):
    """How plainly a statement chooses an option; a plainer statement overrules an earlier one."""

    NAMED = 0
    """An option's text stands where an answer would: "It's a sphere."."""
    STATED = 1
    """"The answer is B", or "B. text" at the start."""
    CONCLUDED = 2
    """"Therefore, B", "Final answer: B", or the letter alone on the last line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledStatement:
    """One option that a reply chooses."""

    place: int
    """Position among the options; beyond them for a letter that labels none."""
    plainness: Plainness
    position: int
    """Offset of its mark in the reply, in characters."""
    by_letter: bool
    """Whether a letter names it, with or without its text."""


def yield_marked_sentences(text: str) -> Iterator[tuple[int, str]]:
    """Yield each sentence of a reply, without questions, and its offset; the end of a line ends a sentence."""
    start = 0
    for stop in re.finditer(r"(?<=[.!?])\s(?!(?<=[\ue200-\ue2fe]\.\s)[a-z])|\n|$", text):
        said = text[start : stop.start()]
        if said.strip() and not said.rstrip(" \"')").endswith("?"):
            yield start, said
        start = stop.end()


def yield_choices(sentence: str, start: int, *, brief: bool) -> Iterator[LabelledStatement]:
    """Yield the choices of one sentence, which begins at `start`; a `brief` reply is a sentence or two."""
    for pattern in (*clauses.ANYWHERE, *clauses.BY_LETTER, *clauses.NAMES, *(clauses.LOOSE if brief else ())):
        for match in pattern.finditer(sentence):
            named = pattern not in clauses.ANYWHERE and not re.match(LETTER, match["mark"])
            end = match.end("mark")
            if clauses.DENIES.match(sentence, end) or clauses.AND_ALSO.match(sentence, end):
                continue
            # Praise ("B is the best …") that goes on to say that it is not the choice.
            praises = match.end() > end + 2 and match.re not in clauses.ANYWHERE
            if praises and clauses.TAKES_BACK.search(sentence, match.end()):
                continue
            if not clauses.INSTEAD.search(match[0]):
                # Words before the mark deny, doubt or suppose the choice; an earlier clause can only suppose.
                before = sentence[: match.start("mark")]
                breaks = [0, *(stop.end() for stop in clauses.CLAUSE.finditer(clauses.LED_UP.sub("", before) + " "))]
                parts = before[breaks[-1] :], before[match.start() :]
                if clauses.CONDITION.search(before) or any(map(clauses.DOUBT.search, parts)):
                    continue
            if named:
                # Another option that is named, but in a reason, makes it no choice.
                reason = re.search(r"\b(?:because|since|as)\b", sentence[match.end("mark") :])
                said = sentence[: match.end("mark") + reason.start()] if reason else sentence
                marks = re.findall(MARK, clauses.NOT_ANOTHER.sub("", said))
                if {locate_mark(mark) for mark in marks} != {locate_mark(match["mark"])}:
                    continue
            concludes = clauses.CONCLUDES.search(sentence[: match.start("mark")])
            stated_so = Plainness.CONCLUDED if concludes else Plainness.STATED
            yield _make_labelled_statement(match, Plainness.NAMED if named else stated_so, start=start)


def find_ruled_out_options(text: str) -> set[int]:
    """Return the positions of the options that a reply calls wrong."""
    return {locate_mark(match["first"] or match["second"]) for match in clauses.RULED_OUT.finditer(text)}


_CHATTER = expression(
    r"(?i)(?:(?:sure|certainly|of course|great|good|okay|ok|hello|hi|absolutely|thank|thanks|yes|alright|well"
    r"|no problem|happy to help)\b[^.!:\n\ue000-\ue2ff]{0,80}[.!]\s*){1,3}"
)
_LEAD = expression(
    r"(?:[^\n\ue000-\ue2ff]{0,400}[.!\n]\s?)?(?P<last>[^.!?\n\ue000-\ue2ff]{0,200}\b"
    r"(?:is|be|was|should|would|will|answer|choice|option|response|select|choose|pick|say|following|follows"
    r"|solution|selection|go with|opinion|view) ?:)\s"
)
"""What leads up to a letter: "…, I would choose:"."""
_NO_LEAD = expression(
    r"(?i)\b(?:are|analy[sz]e|consider|explanation|reason\w*|wrong|incorrect|not|other|each|one of"
    r"|(?:one|an) (?:option|choice|answer)|another|why|let's|look|compare|step|between|if|whether|example|false"
    r"|least|worst|except|some|people|how|question|first|mistake|misconception)\b|n't\b"
)
_HEAD = expression(
    rf"(?P<noun>(?i:the )?(?i:option|choice|answer|letter)\s)?\(?(?P<mark>{LETTER})"
    r"(?P<sep>\)? ?[.):]?(?: ?[-\u2013\u2014](?=\s))?)(?P<rest>.*)"
)
_ENTRY = expression(
    rf"(?m)^(?:(?i:option|choice) )?\(?(?P<first>{LETTER})\)?(?=[.):,\s-]|$)"
    rf"|(?<=\s)(?:(?i:option|choice|answer) )?\(?(?P<inline>{LETTER})(?:\)|(?<={BOTH})|[.:](?=\s\S))"
)
"""A letter that heads a line, or stands within one as it would head it: "B)", "B. text"."""
_LISTED = expression(rf"(?:^|: )(?:(?i:option|choice) )?\(?{MARK}\)?(?:[.):,]|\s?$|\s[-\u2013\u2014])")
"""A line that is an entry of a list, or its heading with the first entry."""
_HEADING = expression(
    r"(?im)^\W{0,3}(?:explanation|reason\w*|rationale|justification|analysis|why\b|here's why|the other|other|let's)"
)
"""A line after which letters are explained, not chosen."""
_GOES_ON = expression(
    r"(?:because|since|as|the|it|this|that|these|they|an?|in|i|due to|for|there|here|we|you|he|she|if|at|on|by|of)\b"
)
_ALONE_AT_END = expression(
    rf"(?:\n|(?<![\ue000-\ue2fe])(?<![\ue000-\ue2fe]\))(?<!\bvs)[.!?]\s)"
    rf"(?:(?i:option|choice) )?\(?(?P<mark>{LETTER}|(?<=\n){TEXT}|(?<=\n\(){TEXT})\)?\W{{0,3}}$"
)
"""A letter, or an option's text, that is the last sentence."""
_FIRST = expression(r"[.;:\n]")
_AND_OTHERS = expression(rf"[,/&+]?\s?(?:or|and|nor|then|vs)\b|[,/&+]\s?\(?{MARK}|\s?\(?{LETTER}|\?")
_FALLS_SHORT = expression(
    r"(?i)(?:(?:is|was|are|were|seems|does|do|can|may|might|could|would) (?:(?:also|clearly|only|just|thus) )*(?:not"
    r"|wrong|incorrect|false|possible|tempting|plausible|close|out|be)\b|(?:also|maybe|perhaps|possibly|not sure|not "
    r"certain|i'm not|cannot)\b|(?:is|was|does|can|would|could)n't\b)"
)
_SPOKEN_OF = expression(
    r"(?i)\b(?:might|may|could|possible|plausible|tempting|ruled out|wrong|incorrect|false|not (?:correct|right"
    r"|the)|in theory|at first|one of|many|usually|partly|some|first thought|however|if)\b"
)
_RULES_OUT = expression(r"[).: ]{0,3}(?:is|are|was) (?:also |clearly )?(?:wrong|incorrect|not)\b")
_REASON = expression(r"(?i)[,:]?\s?(?:because|since|as (?:it|the|this|that|there|they|we)|due to)\b")


def yield_first_and_last_choice(text: str, options: Sequence[str]) -> Iterator[LabelledStatement]:
    """Yield the choice that begins a reply with marks, and the choice that is alone on its last line."""
    opening = _CHATTER.match(text)
    start = opening.end() if opening else 0
    lead = _LEAD.match(text, start)
    if lead and not _NO_LEAD.search(lead["last"]):
        start = lead.end()
    if (head := _HEAD.match(text, start)) and not _is_listed(text, head) and _may_open_answer(head, options):
        yield _make_labelled_statement(head, Plainness.STATED)
    if end := _ALONE_AT_END.search(text):
        # An entry of a list is no choice: letters headed lines before it, and its own did not yet.
        before = text[: end.start()]
        listed = {locate_mark(entry["first"]) for entry in _ENTRY.finditer(before) if entry["first"]}
        if (not listed or locate_mark(end["mark"]) in listed) and not _LISTED.search(before.rpartition("\n")[2]):
            yield _make_labelled_statement(end, Plainness.CONCLUDED)


def _make_labelled_statement(match: re.Match[str], plainness: Plainness, *, start: int = 0) -> LabelledStatement:
    """Return the choice of the mark in a match; its text begins at `start` of the reply."""
    mark = match["mark"]
    by_letter = re.match(LETTER, mark) is not None
    return LabelledStatement(
        place=locate_mark(mark), plainness=plainness, position=start + match.start("mark"), by_letter=by_letter
    )


def _is_listed(text: str, head: re.Match[str]) -> bool:
    """Return whether other letters begin further lines, and nothing says that the reply only explains options."""
    place = locate_mark(head["mark"])
    explained = _HEADING.search(text, head.end("mark"))
    until = explained.start() if explained else len(text)
    entries = _ENTRY.finditer(text, head.end("mark"), until)
    headed = [(entry, locate_mark(entry["first"] or entry["inline"])) for entry in entries]
    if len({at for _, at in headed}) > 1 and place in {at for entry, at in headed if entry["first"]}:
        # The answer, and then a list of all options, its own one among them.
        return False
    others = (entry for entry, at in headed if at != place)
    return any(not _RULES_OUT.match(text, other.end()) for other in others)


def _may_open_answer(head: re.Match[str], options: Sequence[str]) -> bool:
    """Return whether the letter may be the answer, because nothing, its option's text or a reason follows it."""
    sep, rest, place = head["sep"].strip(), head["rest"].strip(), locate_mark(head["mark"])
    if _AND_OTHERS.match(rest) or _FALLS_SHORT.match(rest):
        return False
    if re.match(BOTH, head["mark"]):
        goes_on = re.match(r"[a-z,]", rest) is not None
        return not (goes_on and ((head["noun"] and sep != ".") or _SPOKEN_OF.search(_FIRST.split(rest)[0])))
    if not rest or _REASON.match(rest):
        return True
    if place >= len(options) or _is_text_of_other_option(rest, place, options):
        return False
    if sep in {".", ").", ")"}:
        return _is_no_name(rest, place, options)
    spelt = sep == ":" and head["noun"] and not rest[0].islower()
    return spelt or (
        bool(sep) and not _find_content_words(_FIRST.split(rest)[0]).isdisjoint(_find_content_words(options[place]))
    )


def fits_label(text: str, said: LabelledStatement, options: Sequence[str]) -> bool:
    """Return whether a letter may be a label, by the words after it; in "The answer is E. coli" it is not."""
    after = re.match(r"\)?\. ?(?=\S)([^\n]*)", text[said.position + 1 :])
    if not after or not said.by_letter or re.match(BOTH, text[said.position]) or said.place >= len(options):
        return True
    return _is_no_name(after[1], said.place, options) and not _is_text_of_other_option(after[1], said.place, options)


def _is_no_name(rest: str, place: int, options: Sequence[str]) -> bool:
    """Return whether the text after "E." is no name; a name continues in lower case, such as "E. coli"."""
    plain = not rest[0].islower() or _GOES_ON.match(rest)
    return bool(plain) or not _find_content_words(_FIRST.split(rest)[0]).isdisjoint(_find_content_words(options[place]))


def _is_text_of_other_option(rest: str, place: int, options: Sequence[str]) -> bool:
    """Return whether the words after a letter are from another option's text, not from its own."""
    said = _find_content_words(_FIRST.split(rest)[0])
    own = len(said & _find_content_words(options[place]))
    return bool(said) and any(
        len(said & words) > own and said <= words
        for words in (_find_content_words(option) for i, option in enumerate(options) if i != place)
    )


def _find_content_words(text: str) -> set[str]:
    """Return the words that are likely to carry meaning: numbers, and words of four letters or more."""
    return {word for word in re.findall(r"\w+", normalise_option(text).casefold()) if len(word) > 3 or word.isdigit()}
