"""Finds the one finite verb of a main clause; verbs of clauses inside its subject are passed over."""

from __future__ import annotations

from dataclasses import dataclass

from contrapose.tasks.probes.negation import tags as t
from contrapose.tasks.probes.negation.lexical import after_adverbs, before_adverbs, is_finite_aux, reading
from contrapose.tasks.probes.negation.reading import Sentence
from contrapose.tasks.probes.negation.result import SkipError
from contrapose.tasks.probes.negation.words import words

_LOOSE_CLAUSE = words("after before since until till as")
_CLAUSE_JOINERS = words("but yet so")
_NEW_SUBJECTS = words("he she they it we there")
_AS_HEADS = words("known such used well same far long serve serves described defined regarded seen")


@dataclass(frozen=True, slots=True)
class Main:
    """The finite verb of the main clause."""

    index: int
    """Which word it is."""
    lexical: bool
    """Whether it is a full verb, which needs "do" to be negated."""


def find_main(s: Sentence, start: int) -> Main:
    """The finite verb of the statement that starts at `start`.

    Raises:
        SkipError: there is none, or it cannot be told from others.
    """
    scan = _Scan(s, start)
    main = scan.run()
    if main is None:
        raise SkipError("ambiguous_verb" if scan.doubt else "no_finite_verb")
    if scan.loose or (scan.doubt and (scan.joined or scan.embeds)):
        raise SkipError("ambiguous_verb")
    return main


class _Scan:
    """One walk from the subject to the main verb; clauses inside the subject keep their own verbs."""

    def __init__(self, s: Sentence, start: int) -> None:
        self.s, self.start = s, start
        self.clause = start  # where the innermost open clause starts
        self.waiting = 0  # clauses opened whose verb has not come yet
        self.aside = False  # the open clause stands between commas
        self.inner = -1  # last verb that belongs to an inner clause
        self.doubt = self.joined = self.embeds = self.loose = False
        self.fronted = bool(s.tag(start) & (t.PREP | t.ADV | t.TO))

    def run(self) -> Main | None:
        i, count = self.start, len(self.s.words)
        while i < count:
            tag = self.s.tags[i]
            if self._opens(i, tag):
                i = self._open(i)
            elif tag & (t.BREAK | t.COORD):
                self._boundary(i, tag)
            elif tag & t.LOOSE and i > self.start:
                self._loosen(i)
            elif (verb := self._verb(i, tag)) is not None:
                return verb
            i += 1
        return None

    def _opens(self, i: int, tag: int) -> bool:
        if tag & t.OPENER and not tag & t.AUX:
            return not (self.s.words[i] == "that" and self._that_determines(i))
        return self._contact(i, tag)

    def _that_determines(self, i: int) -> bool:
        following = self.s.tag(i + 1)
        if i == self.start:
            return not following & t.NP_START
        return bool(self.s.tags[i - 1] & t.PREP) and not following & t.NP_START

    def _contact(self, i: int, tag: int) -> bool:
        """Whether a noun phrase right after a noun opens a relative clause without "that"."""
        if not tag & (t.DET | t.SUBJ) or tag & t.AUX or i == self.start or i - 1 == self.inner:
            return False
        word, before = self.s.words[i - 1], self.s.tags[i - 1]
        infinitive = before & t.BASE and self.s.word(i - 2) == "to"
        if before & t.FUNCTION or infinitive or word.endswith("ing") or t.is_participle(word, before):
            return False
        if self.fronted:
            self.fronted = False
            return False
        return True

    def _open(self, i: int) -> int:
        self.aside = self.aside or bool(self.s.tag(i - 1) & t.BREAK)
        own = _relative_verb(self.s, i)
        if own is None:
            self.waiting += 1
            self.clause = i + (not self.s.tags[i] & t.NP_START)
            return i
        self.inner = own
        return own

    def _boundary(self, i: int, tag: int) -> None:
        clause = bool(tag & t.COORD) and self.s.word(i + 1) in _NEW_SUBJECTS
        self.joined = self.joined or self.doubt
        self.loose = self.loose or clause or (self.s.words[i] in _CLAUSE_JOINERS and i > self.start)
        if tag & t.BREAK and self.aside:
            self.waiting, self.aside = 0, False

    def _loosen(self, i: int) -> None:
        word = self.s.words[i]
        if word in _LOOSE_CLAUSE and not (word == "as" and self.s.words[i - 1] in _AS_HEADS):
            self.loose = True

    def _verb(self, i: int, tag: int) -> Main | None:
        if is_finite_aux(self.s, i):
            return self._take(i, lexical=False)
        if not tag & t.FINITE_FORM:
            if self.waiting and t.is_participle(self.s.words[i], tag) and _closes_relative(self.s, i):
                return self._take(i, lexical=True)
            self.doubt = self.doubt or self._unknown_past(i)
            return None
        how = reading(self.s, i, self.clause if self.waiting else self.start)
        if how == "yes" or (self.waiting and _closes_relative(self.s, i)):
            return self._take(i, lexical=True)
        if how == "maybe":
            self.doubt = True
            self.embeds = self.embeds or bool(tag & t.EMBED)
        return None

    def _unknown_past(self, i: int) -> bool:
        """Whether an unlisted word in -ed may be a past tense: behind a pronoun, or with an object."""
        if not self.s.words[i].endswith("ed") or not t.is_participle(self.s.words[i], 0) or i == self.start:
            return False
        return bool(self.s.tag(i - 1) & t.SUBJ or self.s.tag(i + 1) & (t.DET | t.OBJ))

    def _take(self, i: int, *, lexical: bool) -> Main | None:
        if self.waiting:
            self.waiting, self.inner = self.waiting - 1, i
            return None
        if self.inner >= 0 and self.s.tag(before_adverbs(self.s, i, self.start)) & t.COORD:
            return None
        return Main(i, lexical)


def _relative_verb(s: Sentence, i: int) -> int | None:
    """Index of the verb right after a relative pronoun that is its subject; None when it comes later."""
    word = s.words[i]
    if word not in ("who", "which", "that", "what"):
        return None
    k = after_adverbs(s, i)
    tag, verb = s.tag(k), s.word(k)
    if is_finite_aux(s, k) or (word == "who" and verb and not tag & t.FUNCTION):
        return k
    if tag & t.FINITE_FORM:
        if tag & t.NOUNISH and s.tag(k + 1) & (t.DET | t.OBJ):
            return k
        return k if word == "which" or (not tag & t.NOUNISH and not is_finite_aux(s, k + 1)) else None
    shaped = verb.endswith(("s", "ed")) and not tag & t.FUNCTION
    return k if shaped and (word == "which" or s.tag(k + 1) & t.DET) else None


def _closes_relative(s: Sentence, i: int) -> bool:
    """Whether a verb form stands where an object relative ends: "the water that plants need is"."""
    return is_finite_aux(s, i + 1) and not s.tags[i] & t.NOUNISH and not s.tag(i - 1) & (t.FUNCTION & ~t.SUBJ)
