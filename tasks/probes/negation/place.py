"""Places one "not" at a finite verb, with "do" where English needs it; under it, "some" becomes "any"."""

from __future__ import annotations

from contrapose.tasks.language import closed, inflection
from contrapose.tasks.language import flags as f
from contrapose.tasks.language.closed import words
from contrapose.tasks.language.context import after_adverbs, before_adverbs, is_adverb
from contrapose.tasks.language.inflection import form_of
from contrapose.tasks.language.sentence import Edit, Sentence
from contrapose.tasks.probes.negation.result import Confidence, EditPlan, Kind, SkipError

_MEDIUM_MODALS = words("may might must shall")
_MEDIUM_ADVERBS = words("also still already sometimes both now")
_BEHIND_VERB = words("here today tonight yesterday tomorrow away back ago hard fast")
"""Adverbs that end what stands before a verb, and do not belong to it: "The people who work hard earn more."."""
_BEHIND_RELATIVE = words("alone together well best better again twice")
"""Adverbs that do so right behind the verb of a relative clause: "People who live alone eat less."."""
_FUSED = {"'ll": " won't", "'d": " wouldn't", "'ve": " haven't", "'s": " isn't"}


def after_auxiliary(s: Sentence, i: int, subject: int) -> EditPlan:
    """Insert "not" behind the finite auxiliary, copula or modal `i`; a full have or do takes do-support."""
    word, tag = s.words[i], s.tags[i]
    if (tag & f.CLITIC and word[-3:] in _FUSED) or word.endswith("'d"):
        return negate_contraction(s, i)
    if tag & (f.HAVE | f.DO) and not tag & f.CLITIC and is_full_verb(s, i):
        return with_do(s, i, subject)
    at = _slot(s, i)
    cue = "not" if word == "can" and at == i else " not"
    nearby = word in _MEDIUM_MODALS or not _MEDIUM_ADVERBS.isdisjoint(s.words[max(i - 1, 0) : i + 2])
    edit = Edit(s.ends[at], s.ends[at], s.cased(cue))
    return with_any(s, at, (edit,), "medium" if nearby else "high")


def _slot(s: Sentence, i: int) -> int:
    """Return the word that "not" follows: the auxiliary, or what must stay between it and "not"."""
    if (s.words[i], s.word(i + 1)) in (("had", "better"), ("would", "rather")):
        return i + 1
    k = i + 1
    while k < len(s.words) and (is_adverb(s, k) or s.words[k] in closed.SENTENCE_ADVERBS):
        if s.words[k] in closed.NARROW:
            raise SkipError("quantifier_only")
        # "Likely" may take a complement, so that "not" stands before it.
        is_adjective = s.words[k] == "likely" and s.word(k + 1) in ("", "to", "that")
        if s.words[k] in closed.SENTENCE_ADVERBS and not is_adjective:
            return k
        k += 1
    if k > i + 1 and s.words[i + 1] == "each":
        raise SkipError("quantifier_only")
    return i


def with_do(s: Sentence, i: int, subject: int) -> EditPlan:
    """Replace the finite full verb `i` by do/does/did not and its base, in front of its adverbs."""
    base, support = base_and_support(s, i, subject)
    behind = before_adverbs(s, i, 0)
    first = behind + 1
    if s.tag(behind) & f.OBJ and not s.tag(behind) & f.SUBJ:
        first = i  # the adverb belongs to what stands before: "to see it more easily"
    if not closed.NARROW.isdisjoint(s.words[first : i + 2]):
        raise SkipError("quantifier_only")
    # Some of the adverbs belong to what stands before them, too.
    opener = before_adverbs(s, first - 1, 0)
    ends = _BEHIND_VERB | _BEHIND_RELATIVE if s.tag(opener) & f.REL and opener > subject else _BEHIND_VERB
    first = max(first, subject, max((k + 1 for k in range(first, i) if s.words[k] in ends), default=first))
    while first < i and (s.words[first] in closed.SENTENCE_ADVERBS or s.words[first] in ("also", "still", "please")):
        first += 1
    edits: tuple[Edit, ...] = (Edit(s.starts[i], s.ends[i], s.cased(f"{support} not {base}")),)
    if first != i:
        cue = Edit(s.starts[first], s.starts[first], s.cased(f"{support} not "))
        edits = (cue, Edit(s.starts[i], s.ends[i], s.cased(base)))
    medium = not _MEDIUM_ADVERBS.isdisjoint(s.words[behind + 1 : i])
    return with_any(s, i, edits, "medium" if medium else "high", "rewrite")


def base_and_support(s: Sentence, i: int, subject: int) -> tuple[str, str]:
    """Return a full verb's base and the form of "do" that carries its person and tense."""
    word = s.words[i]
    if word in ("has", "had"):
        return "have", {"has": "does", "had": "did"}[word]
    if word in ("do", "does", "did"):
        return "do", word
    form = form_of(s, i, subject)
    base = inflection.base_of(word, form)
    if base is None:
        raise SkipError("ambiguous_verb")
    return base, {f.BASE: "do", f.THIRD: "does", f.PAST: "did"}[form]


def is_full_verb(s: Sentence, i: int) -> bool:
    """Return whether have/do is the full verb of its clause; it is where nothing follows."""
    if s.words[i] == "had" and s.word(i + 1) in ("better", "rather"):
        return False
    k = after_adverbs(s, i)
    word, tag, behind = s.word(k), s.tag(k), s.tag(k + 1)
    if not word:
        return True
    if s.tags[i] & f.DO:
        return (not tag & f.BASE and word not in ("be", "have", "do")) or bool(tag & f.USUALLY_NOUN)
    if word in ("been", "had") or "been" in s.words[i + 1 : i + 5]:
        return False
    if not tag & f.PART:
        return True
    return bool((tag & f.USUALLY_ADJ or "-" in word) and behind & (f.NOUN | f.ADJ) and not behind & f.CLOSED)


def negate_contraction(s: Sentence, i: int) -> EditPlan:
    """Negate a contracted auxiliary: "they'll" → "they won't", "where's" → "where isn't".

    Raises:
        SkipError: it may stand for another auxiliary.
    """
    word, at = s.words[i], s.words[i].rindex("'")
    ending, following = word[at:], after_adverbs(s, i)
    if ending == "'d" and s.word(i + 1) in ("better", "rather"):
        return EditPlan(edits=(Edit(s.ends[i + 1], s.ends[i + 1], " not"),))
    new = _FUSED[ending]
    tag = s.tag(following)
    if ending == "'d" and (s.word(following) == "been" or (tag & f.PART and not tag & f.BASE)):
        new = " hadn't"
    if ending == "'ve" and not (tag & f.PART or s.word(following) == "been"):
        raise SkipError("ambiguous_verb")
    if "\u2019" in s.source(i):
        new = new.replace("'", "\u2019")
    edit = Edit(s.starts[i] + at, s.ends[i], s.cased(new))
    return with_any(s, i, (edit,), "high", "rewrite")


_ANY = {"some": "any", "someone": "anyone", "somebody": "anybody", "something": "anything", "somewhere": "anywhere"}
SOME = {new: old for old, new in _ANY.items()}
"""What "any" and its kin become again out of reach of a "not"."""
_STOP = f.BREAK | f.OPENER | f.LOOSE | f.COORD | f.QUOTED


def with_any(s: Sentence, i: int, edits: tuple[Edit, ...], confidence: Confidence, kind: Kind = "insert") -> EditPlan:
    """Return the plan that also changes "some" behind word `i`, up to the next clause or coordination.

    Raises:
        SkipError: several of them follow, which one "not" would not reverse plainly.
    """
    if sum(word in _ANY for word in s.words[i + 1 :]) > 1:
        raise SkipError("quantifier_only")
    for k in range(i + 1, len(s.words)):
        if s.tags[k] & _STOP and s.words[k] != "like":
            break
        if s.words[k] in _ANY and not s.word(k + 1)[:1].isdigit() and not (s.word(k + 1) == "of" and s.tags[i] & f.BE):
            any_form = Edit(s.starts[k], s.ends[k], s.cased(_ANY[s.words[k]]))
            return EditPlan(edits=(*edits, any_form), confidence=confidence, kind="rewrite")
    return EditPlan(edits, (), confidence, kind)
