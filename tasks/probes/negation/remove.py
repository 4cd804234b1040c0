"""Takes an existing negation out of the main clause: "does not eat" → "eats", "isn't" → "is"."""

from __future__ import annotations

from contrapose.tasks.probes.negation import tags as t
from contrapose.tasks.probes.negation import verbs
from contrapose.tasks.probes.negation.clauses import main_start
from contrapose.tasks.probes.negation.later import require_single
from contrapose.tasks.probes.negation.lexical import after_adverbs
from contrapose.tasks.probes.negation.mainverb import find_main
from contrapose.tasks.probes.negation.reading import Sentence
from contrapose.tasks.probes.negation.result import Edit, Plan, SkipError
from contrapose.tasks.probes.negation.words import words

_SOME = {
    "any": "some",
    "anyone": "someone",
    "anybody": "somebody",
    "anything": "something",
    "anywhere": "somewhere",
}
_SUBJECTS = {"no": "some", "nobody": "somebody", "nothing": "something", "none": "some", "noone": "someone"}
_UNIVERSAL = words("all every everyone everybody everything many")


def remove_negation(s: Sentence) -> Plan:
    """The plan that removes the one negation of the main clause.

    Raises:
        SkipError: there are several, or it stands elsewhere.
    """
    cues = [i for i, tag in enumerate(s.tags) if tag & t.NEG]
    if len(cues) != 1 or any(tag & t.SEMI for tag in s.tags):
        raise SkipError("existing_negation")
    start, cue = main_start(s), cues[0]
    if cue == start:
        return _Removal(s, cue).at_start()
    return _Removal(s, cue).at_verb(start)


class _Removal:
    """The ways to take out the cue at one place."""

    def __init__(self, s: Sentence, cue: int) -> None:
        self.s, self.cue = s, cue

    def at_start(self) -> Plan:
        """Undo a negation that opens the clause: "Not all X" → "All X", "No X" → "Some X", "Don't" → ""."""
        s, cue, word = self.s, self.cue, self.s.words[self.cue]
        if word == "not" and s.word(cue + 1) in _UNIVERSAL:
            return self._plan(Edit(s.starts[cue], s.ends[cue + 1], self._cased(s.word(cue + 1))))
        if word == "don't" and not s.asks:
            return self._order(cue, cue + 1)
        if word not in _SUBJECTS or s.asks or (word == "none" and s.word(cue + 1) != "of"):
            raise SkipError("existing_negation")
        require_single(s, find_main(s, cue))
        if word == "no" and s.word(cue + 1) == "one":
            return self._plan(Edit(s.starts[cue], s.ends[cue + 1], self._cased("someone")))
        return self._plan(Edit(s.starts[cue], s.ends[cue], self._cased(_SUBJECTS[word])))

    def at_verb(self, start: int) -> Plan:
        """A "not" behind the main verb, in it ("isn't", "cannot"), or low in a wh-question."""
        s, cue = self.s, self.cue
        if s.words[start] == "do" and cue == start + 1 and not s.asks:
            return self._order(start, after_adverbs(s, cue))
        verb = cue - 1 if s.words[cue] == "not" else cue
        if s.tags[start] & t.WH and s.tags[start] & t.AUX == 0:
            return self._in_question(start, verb)
        if s.tags[start] & t.AUX and s.asks:
            raise SkipError("existing_negation")
        main = find_main(s, start)
        require_single(s, main)
        if main.index != verb or (not s.tags[verb] & t.AUX and s.words[cue] != "cannot"):
            raise SkipError("existing_negation")
        return self._from_auxiliary(verb)

    def _in_question(self, start: int, verb: int) -> Plan:
        s, cue = self.s, self.cue
        if any(tag & (t.OPENER | t.LOOSE) and not tag & t.AUX for tag in s.tags[start + 1 : cue]):
            raise SkipError("existing_negation")
        if s.tags[verb] & t.AUX:
            return self._from_auxiliary(verb)
        if not any(tag & t.AUX for tag in s.tags[start:cue]):
            raise SkipError("existing_negation")
        return self._plan(Edit(s.ends[cue - 1], s.ends[cue], ""))

    def _from_auxiliary(self, verb: int) -> Plan:
        s, cue = self.s, self.cue
        if s.tags[verb] & t.DO and verb + 1 >= cue:
            return self._reinflect(verb)
        if verb != cue:
            return self._plan(Edit(s.ends[verb], s.ends[cue], ""))
        return self._plan(Edit(s.starts[cue], s.ends[cue], self._host(cue)))

    def _reinflect(self, do: int) -> Plan:
        s = self.s
        support = t.NT_HOSTS.get(s.words[do], s.words[do])
        verb = after_adverbs(s, self.cue)
        if not s.tag(verb) & t.BASE and s.word(verb) not in ("have", "do"):
            raise SkipError("existing_negation")
        finite = _inflected(support, s.words[verb])
        gone = Edit(s.starts[do], s.starts[self.cue + 1], "")
        return self._plan(gone, Edit(s.starts[verb], s.ends[verb], finite))

    def _order(self, first: int, verb: int) -> Plan:
        s = self.s
        if not s.tag(verb) & t.BASE and s.word(verb) not in ("be", "have", "do"):
            raise SkipError("existing_negation")
        new = s.words[verb] if s.source(first)[0].islower() else s.words[verb].capitalize()
        return self._plan(Edit(s.starts[first], s.ends[verb], new))

    def _host(self, cue: int) -> str:
        word = self.s.words[cue]
        host = "can" if word == "cannot" else t.NT_HOSTS.get(word)
        if host is None:
            raise SkipError("existing_negation")
        return self._cased(host)

    def _cased(self, word: str) -> str:
        return word.capitalize() if self.s.source(self.cue)[0].isupper() else word

    def _plan(self, *edits: Edit) -> Plan:
        """Out of reach of "not", "any" becomes "some" again."""
        s = self.s
        for i in range(self.cue + 1, len(s.words)):
            if s.tags[i] & (t.BREAK | t.OPENER | t.LOOSE):
                break
            if s.words[i] in _SOME:
                edits = (*edits, Edit(s.starts[i], s.ends[i], _SOME[s.words[i]]))
        return Plan(edits=edits, confidence="high", kind="remove")


def _inflected(support: str, base: str) -> str:
    if support == "do":
        return base
    if support == "does":
        return verbs.third_person(base)
    found = {"have": "had", "do": "did"}.get(base) or verbs.past_of(base)
    if found is None:
        raise SkipError("existing_negation")
    return found
