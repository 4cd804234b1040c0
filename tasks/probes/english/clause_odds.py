"""How likely a candidate is the verb of a clause, judged by the words of that clause. Log-odds, as in `odds`."""

from __future__ import annotations

from contrapose.tasks.probes.english import flags as f
from contrapose.tasks.probes.english.context import after_adverbs, before_adverbs, takes_complement
from contrapose.tasks.probes.english.odds import FRONTED, NEVER, agreement, finite_odds, relative_odds
from contrapose.tasks.probes.english.sentence import Sentence

_SUBJECT = f.NOUN | f.SUBJ | f.NAME | f.QUANT | f.ING | f.QUOTED | f.WH | f.NUMBER
_VERBAL = f.FINITE | f.AUX


def main_odds(s: Sentence, i: int, start: int, odds: float) -> float:
    """Log-odds that a candidate with `odds` is the verb of the main clause that starts at `start`."""
    if s.tags[i] & f.AUX:
        return odds + _subject(s, i, start)
    return odds + agreement(s, i, start) + _aside(s, i, start) + _subject(s, i, start)


def inner_odds(s: Sentence, i: int, begin: int) -> float:
    """Log-odds that word `i` is the verb of the inner clause that began at `begin`."""
    if after_adverbs(s, begin - 1) == i:
        return relative_odds(s, i) if s.tag(begin - 1) & f.REL else finite_odds(s, i, begin) - 4.0
    odds = finite_odds(s, i, begin)
    return odds if odds == NEVER else odds + agreement(s, i, begin)


def behind_relative(s: Sentence, i: int) -> float:
    """Log-odds lost by a main verb right behind that of a relative clause, whose object it would rather be.

    "The pigment that makes leaves green is …"; but "The train that stops leaves late."
    """
    k = before_adverbs(s, i)
    if s.tags[i] & f.AUX or not s.tag(before_adverbs(s, k)) & f.REL:
        return 0.0
    completed = s.tag(i + 1) & f.ADJ and s.tag(i + 2) & _VERBAL
    return -5.0 if completed or takes_complement(s, k) else -1.0


def joined(s: Sentence, i: int, joint: int, main: int) -> float:
    """Log-odds that a verb behind a comma or "and" belongs to a further clause or predicate."""
    shared = after_adverbs(s, joint) == i
    if shared and s.tags[main] & (f.BE | f.HAVE) and s.tags[i] & f.PART:
        return -5.0  # "was heated and weighed"
    comma = -2.0 if s.words[joint] == "," and not shared else 0.0
    return comma if shared else comma + agreement(s, i, joint + 1)


def unexplained(s: Sentence, i: int) -> float:
    """Log-odds lost by not reading the last word as a verb where no participle would stand: "The story cried."."""
    past = s.tags[i] & f.PAST and not s.tags[i] & (f.BASE | f.ADJ)
    before = s.tag(i - 1)
    return 2.0 if s.closed and past and before & f.NOUN else 0.0


def ending(s: Sentence, *, found: bool, waiting: int = 0, inner: bool = False) -> float:
    """Log-odds of a sentence that ends with its main verb found or not, and `waiting` clauses still without one."""
    missing = (-5.0 if s.closed else -1.5) * waiting
    if found:
        return missing
    dependent = inner or waiting  # "Because it rained." is no sentence
    long = -0.5 if len(s.words) > 3 else 0.0
    return missing + ((-3.0 if dependent else long) if s.closed else (-0.5 if dependent else 0.4))


def _subject(s: Sentence, i: int, start: int) -> float:
    """Log-odds lost where no word before could be a subject, and the verb is no order either."""
    tags = s.tags
    if i == start or tags[i] & f.BASE:
        return 0.0
    for k in range(start, i):
        if tags[k] & _SUBJECT:
            return 0.0
    return -4.0


def _aside(s: Sentence, i: int, start: int) -> float:
    """Log-odds lost by a full verb between two commas behind the subject: "Anna, a maker of aids, …"."""
    if s.tags[i] & f.EMBED and s.word(i - 2) == "," == s.word(i + 1):
        return -8.0  # "The film, I think, starts at eight."
    if s.tags[start] & FRONTED or s.words[i - 1] == ",":
        return 0.0
    inside = s.words[start:i].count(",") == 1 and "," in s.words[i:]
    return -2.5 if inside else 0.0
