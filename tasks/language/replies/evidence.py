"""Which of A and B each clause of a reply is about, and what it says for or against it.

A clause is about the letter that it names, unless only as what another is compared with; one without a letter is about
the letter before it where it takes it up: "which is wrong", "but it gets the year right".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from contrapose.tasks.language.expression import expression
from contrapose.tasks.language.replies import set_apart
from contrapose.tasks.language.replies.judging import TELLS, is_denied, judgements, ranking
from contrapose.tasks.language.replies.rewrites import VERB
from contrapose.tasks.language.replies.set_apart import NAME, SOURCE
from contrapose.tasks.language.replies.text import FINALLY, ReplySentence, sentences

_MENTION = expression(NAME)
_JOINTS = (
    r"and|but|while|whereas|although|even though|though|however|because|since|when|for|so|yet|in which|in whom|which"
    r"|who|still|nevertheless|making"
)
_PIECES = expression(
    rf"(?P<mark>[,;:]\s+|[()]\s*|\s[-\u2013\u2014]{{1,3}}\s)(?P<after>(?:{_JOINTS})\b\s*)?"
    r"|(?<![Ee]ven)\s+(?P<word>but|while|whereas|although|though|even though|however|because|since|when|yet|which"
    rf"|nevertheless)\b\s+|\s+(?P<and>and)\s+(?=(?:it|{VERB}|{NAME})\b)"
)
_OTHER_ONE = expression(r"(?i)\b(?:the )?other(?: (?:one|summary|option))?\b(?! (?:hand|words|details?|facts?|two))")
_ASKS_OR_WISHES = expression(r"(?i)(?:had|were|should) ")
_GRANTS = expression(
    r"(?i)^(?:and |but )?(?:although|though|even (?:though|if)|while|whereas|despite|admittedly|granted|in spite of"
    r"|much as|however \w+ly|to its credit|it is true|true|at first|initially|superficially|on the surface"
    r"|notwithstanding|you could argue|one could argue|some might|yes)\b"
)
"""How a clause begins that concedes something."""
_ALL_GRANTED = expression(r"(?i)^(?:admittedly|granted|true|of course|to be fair|to its credit|yes),")
_TURNS = expression(
    r"(?i)^(?:but|however|yet|though|although|still|nevertheless|nonetheless|that said|even so|except|unfortunately"
    r"|which|what it doesn't)\b"
)
_AGAINST = expression(r"(?i)^(?:but|yet|whereas|while|although|though|however|when|even though)$")
_CONTRASTS = expression(r"(?i)^(?:while|whereas|although|though|even though)\b")
_SOURCE_TELLS = expression(
    rf"(?i)^(?:(?:as |in fact |actually )*{SOURCE},? (?:\w+ly |only |itself |clearly |never |does not |makes it )?"
    rf"(?:{TELLS}|speaks|talks|explains|makes|blames|points|clear|tell|say|mention)\b|(?:in|according to) {SOURCE}\b)"
    r"(?!.*\b(?:also|too|as well|same|so|agrees?|confirms?|supports?|(?-i:[AB]))\b)"
)
_SHARED = expression(r"(?i)\b(?:too|as well|also)\b")
_BESIDE_THE_POINT = expression(
    r"(?i)\b(?:length(?! of)|styl\w+|tone|gramma\w+|wording|worded|spelling|phrasing|phrased|punctuation|written"
    r"|readab\w+|flow\w*|detailed|complete|concise|would have)\b|'s (?!claim|account|version|statement|description"
    r"|figure|date|assertion|mention|portrayal|summary|number|details?|facts?|report)"
)
"""What may be good or bad in a summary that is right, and what belongs to something of its own: "B's author"."""
_TAKES_UP = expression(
    r"(?i)(?!both\b)(?:(?:it|its|this|that|which|everything it|nothing (?:in|it)"
    rf"|(?:one|some|two|three|part|most|none|all) of (?:its|that|this|those|these))\b|{VERB})"
    r"|\W*(?:not |is )?(?:in|un|mis)?(?:consistent|correct|accurate|supported|right|wrong|stated|match|contradict|false"
    r"|true)"
)
_THE_REST = expression(r"(?i)^(?:the )?[\w ]{2,30}? (?:\w+ly )?(?:right|wrong|correct|incorrect|backwards)$")
"""What is added without a verb: "gets the place right but the date wrong"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyEvidence:
    """One thing that is said for or against a letter."""

    letter: str | None
    """A or B; None where it is not plain which of them is meant."""
    is_good: bool
    """Whether it speaks for the letter."""
    ranks: bool = False
    """Whether it sets one letter above the other, which decides by itself."""
    turned: bool = False
    """Whether it is said against what was said before: "but", "however"."""
    is_plain: bool = True
    """Whether it is more than "not wrong"."""


def evidence(text: str) -> Iterator[ReplyEvidence]:
    """All that a canonical reply says for or against a letter, in order; questions and wishes say nothing."""
    reader = _Reader()
    for sentence in sentences(text):
        if sentence.stop == "?" or _ASKS_OR_WISHES.match(sentence.text):
            reader.subject = None
        else:
            yield from reader.read(sentence)


def pieces(sentence: str) -> Iterator[tuple[str, str]]:
    """Each clause of a sentence, after the word that joins it to what stands before it."""
    start, joint = 0, ""
    for match in _PIECES.finditer(sentence):
        yield joint, sentence[start : match.start()].strip()
        joint = next((word for word in (match["after"], match["word"], match["and"]) if word), match[0]).strip().lower()
        start = match.end()
    yield joint, sentence[start:].strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class _ClausePiece:
    """A clause as it is read."""

    joint: str
    """The word or mark before it."""
    text: str
    names: Sequence[str]
    """The letters that it names, in order."""
    opens: bool
    """Whether it is the first of its sentence."""
    turned: bool
    """Whether it is said against what stands before it."""


class _Reader:
    """Goes through the clauses of a reply and remembers what they are about."""

    def __init__(self) -> None:
        self.subject: str | None = None
        """The letter spoken of last."""
        self.order: list[str] = []
        """The letters in the order in which they were last named."""
        self.rival: str | None = None
        """The letter that ended the clause before as what another is compared with, and which "which" means."""
        self.last: ReplyEvidence | None = None
        """What was said last of a letter."""
        self.described: str | None = None
        """The letter of which the sentence before only told something, without judging it."""
        self.alone = False
        """Whether the sentence at hand names only one letter."""
        self.source_spoke = False
        """Whether what the article says was told last."""

    def read(self, sentence: ReplySentence) -> Iterator[ReplyEvidence]:
        """What one sentence says."""
        described = before = self.described if _TURNS.match(sentence.text) else None
        self.alone = len({_letter(mention[0]) for mention in _MENTION.finditer(sentence.text)}) == 1
        contrasts, shared = _CONTRASTS.match(sentence.text), _SHARED.search(sentence.text)
        is_granted = _ALL_GRANTED.match(sentence.text) is not None
        for piece in self._pieces(sentence.text):
            against = _AGAINST.match(piece.joint) is not None
            opposed = against or (contrasts and not piece.opens) or (piece.turned and described == before)
            if described and opposed and _SOURCE_TELLS.match(piece.text) and not shared:
                yield ReplyEvidence(letter=described, is_good=False, turned=True)
            remarks = [remark for remark in self._of_piece(piece) if remark.turned or not is_granted]
            yield from remarks
            self.last = next((remark for remark in reversed(remarks) if remark.letter), self.last)
            names = set(piece.names)
            if not remarks and against and self.source_spoke and names == {self.subject}:
                yield ReplyEvidence(letter=self.subject, is_good=False, turned=True)
            if names:
                only_told = len(names) == 1 and not remarks and not any(judgements(piece.text))
                described = self.subject if only_told else None
            self.source_spoke = _SOURCE_TELLS.match(piece.text) is not None or (self.source_spoke and not names)
        self.described = described

    def _pieces(self, sentence: str) -> Iterator[_ClausePiece]:
        turned = False
        for place, (joint, text) in enumerate(pieces(sentence)):
            text = self._spelt_out(text.removeprefix(FINALLY).strip())
            names = [_letter(mention[0]) for mention in _MENTION.finditer(text)]
            self.order = [*[letter for letter in self.order if letter not in names], *dict.fromkeys(names)]
            turned = turned or (place == 0 and _TURNS.match(text) is not None)
            turns = turned or _TURNS.match(joint) is not None
            yield _ClausePiece(joint=joint, text=text, names=names, opens=place == 0, turned=turns)

    def _spelt_out(self, text: str) -> str:
        """A clause with "the former", "the latter" and "the other one" as the letters that they mean."""
        if len(self.order) == 2:
            text = re.sub(r"(?i)\bthe former\b", f"Summary {self.order[0]}", text)
            text = re.sub(r"(?i)\bthe latter\b", f"Summary {self.order[1]}", text)
        return _OTHER_ONE.sub(f"Summary {'A' if self.subject == 'B' else 'B'}", text) if self.subject else text

    def _of_piece(self, piece: _ClausePiece) -> Iterator[ReplyEvidence]:
        remarks = self._set_apart(piece)
        if remarks is not None:
            yield from remarks
            return
        plain = set_apart.RIVAL.sub("the rival", piece.text)
        if piece.joint == "which" and self.rival:
            yield from _about(self.rival, plain, piece)
            return
        about = {_letter(mention[0]) for mention in _MENTION.finditer(plain)}
        letter: str | None = None
        if len(about) == 1:
            letter = self.subject = about.pop()
        elif about:
            self.subject = None
        elif self.subject and _goes_on(plain, piece):
            letter = self.subject
        self.rival = piece.names[-1] if piece.names and plain.endswith("the rival") else None
        if piece.opens and _GRANTS.match(plain):
            return
        yield from _about(None if _BESIDE_THE_POINT.search(plain) else letter, plain, piece)

    def _set_apart(self, piece: _ClausePiece) -> list[ReplyEvidence] | None:
        """What a clause says that sets one letter apart from the other; None where it does not."""
        text, turned = piece.text, piece.turned
        remarks: list[ReplyEvidence] = []
        if lacks := set_apart.LACKS.search(text):
            self.subject = _letter(lacks["letter"])
            remarks.append(ReplyEvidence(letter=self.subject, is_good=is_denied(text[: lacks.start()]), turned=True))
        if backed := set_apart.BACKED.search(text):
            self.subject = _letter(backed["letter"])
            is_good = not is_denied(text[: backed.start()])
            remarks.append(ReplyEvidence(letter=self.subject, is_good=is_good, turned=turned))
        elif self.source_spoke and len(set(piece.names)) == 1 and set_apart.SAYS_THE_SAME.search(text):
            self.subject = piece.names[0]
            remarks.append(ReplyEvidence(letter=self.subject, is_good=True, turned=turned))
        return remarks or self._preferred(piece) or self._referred(piece)

    def _preferred(self, piece: _ClausePiece) -> list[ReplyEvidence] | None:
        """The letter that is preferred, passed over or ruled out."""
        text = piece.text
        if self.subject and set_apart.NOT_THAT_ONE.match(text):
            return [ReplyEvidence(letter=self.subject, is_good=False, ranks=True, turned=piece.turned)]
        for pattern in set_apart.PASSED_OVER:
            if match := pattern.search(text):
                self.subject = _letter(match["letter"])
                return [ReplyEvidence(letter=self.subject, is_good=False, ranks=True, turned=piece.turned)]
        if self.alone and (match := set_apart.RULED_OUT.search(text)):
            self.subject = _letter(match["letter"] or match["contrary"])
            return [ReplyEvidence(letter=self.subject, is_good=False, ranks=True, turned=piece.turned)]
        for pattern in set_apart.PREFERRED:
            if (match := pattern.search(text)) and not is_denied(text[: match.start()]):
                self.subject = _letter(match["letter"])
                return [ReplyEvidence(letter=self.subject, is_good=True, ranks=True, turned=piece.turned)]
        return None

    def _referred(self, piece: _ClausePiece) -> list[ReplyEvidence] | None:
        """What a clause says by taking up what was said before: "B does not", "as the article does"."""
        if self.subject and piece.joint == "which" and set_apart.TAKES_BACK.match(piece.text):
            return [ReplyEvidence(letter=self.subject, is_good=False, turned=True)]
        if match := set_apart.ELLIPSIS.match(piece.text):
            self.subject, last = _letter(match["letter"]), self.last
            if last and last.letter != self.subject and bool(match["denied"]) == (last.is_plain or not last.is_good):
                return [ReplyEvidence(letter=self.subject, is_good=not last.is_good, turned=True)]
            return []
        if self.subject and (beside := set_apart.LIKE_SOURCE.match(piece.text)):
            return [ReplyEvidence(letter=self.subject, is_good=bool(beside["good"]), turned=True)]
        return None


def _about(letter: str | None, text: str, piece: _ClausePiece) -> Iterator[ReplyEvidence]:
    """What a clause says of what it is about."""
    if letter and (ranked := ranking(text)):
        yield ReplyEvidence(letter=letter, is_good=ranked.is_good, ranks=True, turned=piece.turned)
        return
    for judgement in judgements(text):
        is_plain = judgement.is_plain or not judgement.is_good
        yield ReplyEvidence(letter=letter, is_good=judgement.is_good, turned=piece.turned, is_plain=is_plain)


def _goes_on(text: str, piece: _ClausePiece) -> bool:
    """Whether a clause without a letter is about the letter before it: "which is wrong", "it gets the year right"."""
    if _TAKES_UP.match(text) or (not piece.opens and piece.joint in ("which", "in which", "in whom", "and", "making")):
        return True
    return piece.joint == "but" and _THE_REST.match(text) is not None


def _letter(name: str) -> str:
    return name.rstrip("^")[-1]
