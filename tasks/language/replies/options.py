"""Find which of several lettered options a reply chooses.

Option letters and texts become marks first, so that the same rules read every letter. Only unambiguous forms count,
because the reader model can still read an unread reply, but nobody would notice a misread one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from contrapose.tasks.language.expression import expression
from contrapose.tasks.language.replies import clauses, labelled
from contrapose.tasks.language.replies.clauses import BOTH_RIGHT, DECLINES, OF_ANOTHER
from contrapose.tasks.language.replies.cut_off import keep_if_final
from contrapose.tasks.language.replies.marks import (
    CLASH,
    LETTER,
    MARK,
    TEXT,
    clean_text,
    collapse_blanks,
    locate_mark,
    mark_options,
    normalise_option,
)
from contrapose.tasks.language.replies.spoken import (
    AT_END,
    ONLY_NAMED,
    Chosen,
    read_final_choice,
    remove_listing,
    unparsed_choice,
)
from contrapose.tasks.language.replies.text import REPLIES, keep_readable_part

_EDGES = r"[\s()\[\]{}*_`\"'\u2018\u2019\u201c\u201d.,:;!?$#>]"
_LONE = expression(rf"{_EDGES}*([A-Za-z]){_EDGES}*")
_JOINED = expression(
    r"(?i)(?::|\bis|\bbe|^(?:the |my |final |correct )*(?:answer|choice|response))\s?\n(?=\(?[\ue000-\ue2fe])", re.M
)


NOTHING, CONCLUDES = "no choice found", "concludes with the choice"
CONTRADICTORY = -1
"""Stands for an option if a sentence chooses several."""
_LINES = expression(rf"(?m)^[^\w\n\ue000-\ue2ff]{{0,4}}({MARK})[^\w\n\ue000-\ue2ff]{{0,4}}$")
_SIGNED = expression(
    rf"(?m)^(?:(?i:option) )?\(?({MARK})[).:]{{0,2}}[^\n\ue000-\ue2ff]{{0,40}}\(correct\)\W*$"
    rf"|^\(correct\) (?:(?i:option) )?\(?({MARK})"
)
"""The option in whose line a sign says that it is right."""
_DENIED_SIGN = expression(rf"(?m)^\(incorrect\)[^\n]*{MARK}[^\n]*\(correct\)")


def choose(reply: str, *, labels: Sequence[str], options: Sequence[str], cut_off: bool = False) -> Chosen:
    """Return the option that a reply chooses by its letter or its text; of a long reply only the ends are read.

    Of a reply that is known to be `cut_off`, only a final answer counts.
    """
    seen = remove_listing(keep_readable_part(collapse_blanks(reply)), labels, options)
    return _choose(seen, tuple(labels), tuple(options), cut_off)


@lru_cache(maxsize=REPLIES)
def _choose(seen: str, labels: tuple[str, ...], options: tuple[str, ...], cut_off: bool) -> Chosen:
    def read(text: str) -> Chosen:
        return _read(text, labels, options)

    def read_verdict(verdict: str) -> int | None:
        return _read_verdict(verdict, labels, options)

    chosen = read_final_choice(seen, read, held=read_verdict, count=len(options))
    return keep_if_final(chosen, seen, read, cut_off=cut_off)


_LABELLED = expression(
    r"(?i)(?:(?:option|choice|answer) )?[(\[]?([a-z])(?:[)\].:]{1,2}(?:\s(.*))?|\s?[-\u2013\u2014]\s(.*))?", re.S
)


def _read_verdict(verdict: str, labels: Sequence[str], options: Sequence[str]) -> int | None:
    """Return the position of the option that a verdict names by letter or text, or None if it names none or two."""
    texts = [normalise_option(option).casefold() for option in options]
    said = normalise_option(verdict).casefold()
    by_text = texts.index(said) if texts.count(said) == 1 else None
    label = _LABELLED.fullmatch(verdict)
    if label is None:
        return by_text
    place = {name.upper(): at for at, name in enumerate(labels)}.get(label[1].upper(), len(options))
    behind = normalise_option(label[2] or label[3] or "").casefold()
    others = [text for at, text in enumerate(texts) if at != place and text and text in behind]
    return place if not others or (place < len(texts) and texts[place] in behind) else None


def _read(seen: str, labels: Sequence[str], options: Sequence[str]) -> Chosen:
    if lone := _LONE.fullmatch(seen):
        place = {label.upper(): place for place, label in enumerate(labels)}.get(lone[1].upper())
        if place is None:
            return unparsed_choice("a letter that labels no option")
        return Chosen(index=place, step="letter", reason="the letter alone")
    text = mark_options(clean_text(seen), labels, options)
    if CLASH in text:
        return unparsed_choice("a letter with the text of another option")
    if len({locate_mark(mark) for mark in _LINES.findall(text)}) > 1:
        return unparsed_choice("contradictory")
    signed = {locate_mark(sign[1] or sign[2]) for sign in _SIGNED.finditer(text)}
    if len(signed) == 1 and not _DENIED_SIGN.search(text) and min(signed) < len(options):
        return Chosen(index=min(signed), step="pattern", reason="the only one that is marked as right")
    text = _JOINED.sub(lambda match: match[0].replace("\n", " "), text)
    parts = [*labelled.yield_marked_sentences(text)]
    said = [[*labelled.yield_choices(sentence, start, brief=len(parts) < 3)] for start, sentence in parts]
    statements = [
        statement
        for several in ([*labelled.yield_first_and_last_choice(text, options)], *said)
        for statement in several
    ]
    if not any(statement.plainness is labelled.Plainness.NAMED for statement in (said or [[]])[0]):
        statements = [statement for statement in statements if statement.plainness > labelled.Plainness.NAMED]
    chosen = _decide(
        [statement for statement in statements if labelled.fits_label(text, statement, options)], text, len(options)
    )
    if chosen.reason != NOTHING:
        last = read_last_letter(text) if chosen.index is not None and chosen.reason != CONCLUDES else None
        return chosen if last in (None, chosen.index) else unparsed_choice("contradictory")
    if DECLINES.search(text):
        return chosen
    place = read_last_letter(text)
    if place is not None and place < len(options) and place not in labelled.find_ruled_out_options(text):
        return Chosen(index=place, step="pattern", reason=AT_END)
    place = read_only_option(text, options)
    return chosen if place is None else Chosen(index=place, step="restated", reason=ONLY_NAMED)


def read_last_choice(seen: str, labels: Sequence[str]) -> int | None:
    """Return the position of the label that the last sentence about a label chooses."""
    text = mark_options(clean_text(seen), labels, [""] * len(labels))
    parts = [(start, said) for start, said in labelled.yield_marked_sentences(text) if re.search(MARK, said)]
    if not parts:
        return None
    start, last = parts[-1]
    chosen = _decide([*labelled.yield_choices(last, start, brief=False)], text[start:], len(labels))
    if chosen.reason == NOTHING:
        return read_last_letter(text)
    return CONTRADICTORY if chosen.reason == "contradictory" else chosen.index


def _decide(statements: Sequence[labelled.LabelledStatement], text: str, count: int) -> Chosen:
    """Return the choice of the plainest statements, if they agree and no statement contradicts them."""
    if not statements:
        return unparsed_choice(NOTHING)
    top = max(statement.plainness for statement in statements)
    plainest = [statement for statement in statements if statement.plainness == top]
    last = max(plainest, key=lambda statement: statement.position)
    rivals = {
        statement.place
        for statement in statements
        if statement.plainness >= labelled.Plainness.STATED
        or top < labelled.Plainness.CONCLUDED
        or statement.position > last.position
    }
    # Considered after the choice: "B. Or maybe C?".
    wondered = {locate_mark(match["mark"] or match["also"]) for match in clauses.ALSO.finditer(text, last.position)}
    if rivals != {last.place} or last.place in labelled.find_ruled_out_options(text) or wondered - {last.place}:
        return unparsed_choice("contradictory")
    of_another = any(locate_mark(clash["text"]) != locate_mark(clash["mark"]) for clash in OF_ANOTHER.finditer(text))
    if of_another or BOTH_RIGHT.search(text, last.position):
        return unparsed_choice("contradictory")
    if DECLINES.search(text, last.position):  # "B. cone. But it depends."
        return unparsed_choice("refusal")
    if last.place >= count:
        return unparsed_choice("a letter that labels no option")
    how = ("names the option", "states the choice", CONCLUDES)[top]
    by_letter = any(statement.by_letter for statement in plainest)
    return Chosen(index=last.place, step="pattern" if by_letter else "restated", reason=how)


# Where nothing plainer is stated: the letter in which a reply ends, or the only option that it names.

_NOUN = r"(?i:(?:the )?(?:option|choice|answer|letter|statement|alternative) )?"
_JOINT = r"\)?(?:,? (?:and|or|nor|&) (?:also )?|, |/)(?:the )?"
_GROUP = expression(rf"\(?{MARK}(?:{_JOINT}{_NOUN}\(?{MARK})*\)?")
_DENIED_BEFORE = expression(
    r"(?i)(?:\bnot|n't|\bnever|\bneither|\bnor|\bwithout|\binstead of|\brather than|\bthan|\bover|\bunlike|\bexcept(?: "
    r"for)?|\bno(?! doubt)|\bagainst|\bbesides|\breject\w*|\beliminat\w+|\brul\w+ out|\bexclud\w+|\bdiscard\w*"
    r"|\bdismiss\w*|\bcrossing off|\bcross out|\bother than|\banything but|\bfrom|\bbeats|\boutperforms|\breplace"
    r"|\bmistake to (?:choose|pick))[ :](?:(?!but\b|(?<!it )(?<!that )(?<!answer )(?<!one )(?<!option )(?<!choice "
    r")is\b)[\w']+ ){0,4}\(?$"
)
_DENIED_AFTER = expression(
    r"(?i)\)?,? (?:(?:are|is|were|was|can|can't|have|has|be|all|both|therefore|thus|also|clearly|then) )*(?:not\b|out\b"
    r"|ruled out|eliminated|excluded|wrong|false|incorrect|fail|impossible|too\b|lack|gone|off\b)"
)
_LOOSE = expression(
    r"(?i)\b(?:if|unless|whether|might|may|could|maybe|perhaps|possibl[ey]|possibility|either|both|depends?|unsure|not "
    r"sure|uncertain|cannot|can't|unable|don't know|do not know|tempting|plausible|some|people|others?|students?"
    r"|someone|somebody|example|e\.g|such as|like|almost|nearly|consider\w*|looking at|look at|let's|let us|let me"
    r"|start\w*|next|compar\w+|regarding|as for|about|there(?:'s| is| are)|also|too|as well|equally|close|closer"
    r"|closest to|runner|second|distractor|trap|usual\w*|common\w*|wrong|incorrect|false|mistaken?|mistakes|errors?"
    r"|worse|worst|least|alternative\w*|same|similar\w*|opposite|previous|earlier|at first|initially|as in|see|versus"
    r"|vs|between|confus\w+|mix\w*|claims?|argu(?:e|es|ed|ably)|thought|assum\w+|suppos\w+|hesitat\w+|doubt\w*|unclear"
    r"|open|neither|tie|draw|half|whereas|careful|wary|caution|nobody|no one|none|everything but|says?|said|first|third"
    r"|another|one (?:option|choice|answer)|question|(?:start|end) of|2nd|3rd|last place|more of|sort of|kind of"
    r"|vitamin|hepatitis|influenza|grade|type|plan|group|team|section|part|would have|should have|instead of answering"
    r"|asked|asks|mean(?:s|t)? by|stands for|called|labell?ed|(?:written|listed) under)\b|\?"
)
"""What makes the end of a reply less than a choice."""
_SUPPOSES = expression(
    r"(?i)\b(?:if|unless|whether|might|may|could|perhaps|maybe|possibly|suppos\w+|assum\w+|had (?:it|he|she|the)"
    r"|(?:don't|do not|not) (?:know|think|believe|say|mean)|cannot|can't|unable|not sure)\b"
)
_SPLITS = expression(r"(?i)[;:\u2013\u2014]\s|\s-\s|,? \bbut |, yet |\bhowever,? |\bthough,? ")
_PRAISES = expression(
    r"(?i)\)?,? ?(?:(?:is|has to be|must be|would be|remains|seems|are) (?:\w+ly )?(?:the (?:\w+ )?(?:one|answer|choice"
    r"|option|best|right|correct|winner|better|only)|what|my|correct|right|best|better|consistent|true|it\b)|(?:answers"
    r"|fits|matches|satisfies|holds|works|explains|wins|takes|edges|prevails|sounds better|it (?:is|must|has|should)"
    r"|makes (?:the )?most)\b|,? (?:then|definitely|final|no contest|by a hair|clearly|obviously|for sure)\b)"
)
_LEADS = expression(
    r"(?i)^\W*(?:(?:and|so|thus|therefore|hence|then|only|just|well|hmm|ok|okay|sure|consequently|yes|no|it's|it is"
    r"|that's|this is|the answer is|still|definitely|certainly|clearly|overall|in short|in conclusion|i (?:find|think"
    r"|believe|conclude|say|judge)(?: that)?|finally|ultimately|as a result|accordingly),? )*(?:the |an? )?\(?$"
)
_FEWEST = 5
"""Words from which on the end of a reply may choose: plainer rules read shorter ones."""
_REACH = 80
"""Characters before an option in which a denial is about it."""
_BRIEF = 2
"""Sentences up to which an option's text may be the answer wherever it stands."""
_SHORT = 3
"""Characters up to which an option's text, such as a number, must end the sentence."""
_GOES_ON = expression(
    r"(?i)\b(?:let us|let me|let's|next|now|however|but|weigh|compare|step \d|on the other|depends|which one|hard to)\b"
)
"""What, after the last letter, leaves the choice to come."""
_NAME = expression(rf"{LETTER}\)?\. ?[a-z]")
_ENGLISH = expression(
    r"(?i)\b(?:the|you|we|was|were|is|it|so|and|but|to|of|that|this|not|i|in|by|for|answer|option|choose|correct"
    r"|therefore|than|better|leaves|with|only|points)\b|'s\b"
)
"""Words of which texts in English, or put into it, hold some."""


def read_last_letter(text: str) -> int | None:
    """Return the position of the letter that the last sentence with a letter ends with or calls right."""
    lettered = [(start, said) for start, said in labelled.yield_marked_sentences(text) if re.search(LETTER, said)]
    start, said = lettered[-1] if lettered else (0, "")
    if len(re.findall(rf"\w+|{MARK}", text)) < _FEWEST or _GOES_ON.search(text, start + len(said)):
        return None
    if _NAME.search(text) or (re.search(r"[a-z]{3}", text) and not _ENGLISH.search(text)):
        return None
    cuts = [0, *(split.end() for split in _SPLITS.finditer(said) if re.search(LETTER, said[split.end() :]))]
    clause = said[cuts[-1] :]
    if _LOOSE.search(clause) or _SUPPOSES.search(said):
        return None
    kept = [group for group in _GROUP.finditer(clause) if not _is_denied(group, clause)]
    places = {locate_mark(mark) for group in kept for mark in re.findall(MARK, group[0])}
    if len(places) != 1 or not kept:
        return None
    last = kept[-1]
    ends = re.fullmatch(r"\W*(?:\([^()]*\))?(?: (?:though|then|here|instead|indeed))?\W*", clause[last.end() :])
    praised = _LEADS.match(clause[: last.start()]) and _PRAISES.match(clause, last.end())
    # A letter alone may be the end of a list, or where the text was cut off.
    alone = said is clause and re.fullmatch(rf"\W*(?:\w+ )?\(?{MARK}\W*", said)
    return places.pop() if (ends and not alone) or praised else None


def read_only_option(text: str, options: Sequence[str]) -> int | None:
    """Return the position of the only option that a short reply without letters names, unless it denies or compares."""
    said = [said for _, said in labelled.yield_marked_sentences(text)]
    if len(said) > _BRIEF or re.search(LETTER, text) or _LOOSE.search(text) or not _ENDED.search(text):
        return None
    if re.search(r"[a-z]{3}", text) and not _ENGLISH.search(text):
        return None
    kept = [(group, part) for part in said for group in _GROUP.finditer(part) if not _is_denied(group, part)]
    places = {locate_mark(mark) for group, _ in kept for mark in re.findall(TEXT, group[0])}
    if len(places) != 1:
        return None
    place, (group, part) = places.pop(), kept[-1]
    short = len(options[place].strip()) <= _SHORT
    rest, subject = part[group.end() :], _LEADS.match(part[: group.start()]) is not None
    if _NO_ANSWER.search(options[place]) or re.search(r"(?i)\b(?:option|choice|number)\W*$", part[: group.start()]):
        return None
    fits = re.match(r"\W*$|[,;] ", rest) if short else not subject or _PRAISES.match(rest) or not re.search(r"\w", rest)
    return place if fits else None


_ENDED = expression(r"[.!)\"'\ue000-\ue2ff]\W*$|^\W*(?:\w+\W+){0,6}\w*$")
"""A reply of more than a few words without a full stop may be cut off."""
_NO_ANSWER = expression(r"(?i)\b(?:no|none|not sure|don't know|unsure|cannot|refused?|of the above)\b(?! \w+ly\b)")
"""Options in words that may decline to answer as well."""


def _is_denied(group: re.Match[str], clause: str) -> bool:
    before = _DENIED_BEFORE.search(clause[max(0, group.start() - _REACH) : group.start()])
    return bool(before or clauses.DENIES.match(clause, group.end()) or _DENIED_AFTER.match(clause, group.end()))
