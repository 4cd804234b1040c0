"""Negates a statement or an unfinished sentence: at its quantifier, or at its verbs."""

from __future__ import annotations

from contrapose.tasks.language import flags as f
from contrapose.tasks.language.analysis import DOUBT, Analysis
from contrapose.tasks.language.closed import words
from contrapose.tasks.language.context import before_adverbs, is_adverb
from contrapose.tasks.language.sentence import Edit, Sentence
from contrapose.tasks.probes.negation.place import after_auxiliary, base_and_support, with_any, with_do
from contrapose.tasks.probes.negation.result import EditPlan, SkipError

_MOTION = words("goes go went comes come came")
_DAYS = words("today tomorrow yesterday tonight")
_DESCRIBES = f.ADV | f.ADJ | f.PART
_HEADS = f.NOUN | f.SUBJ | f.QUANT
_NUMERALS = words("one two three four five six seven eight nine ten")


def negate_statement(a: Analysis) -> EditPlan:
    """The plan that reverses a statement at its finite verb, or at the quantifier of its subject.

    Raises:
        SkipError: no sound plan.
    """
    s, _, _, subject, (_, verb, lexical, others, margin) = a
    if _is_inverted(s, subject, verb):
        raise SkipError("ambiguous_verb")
    require_plain_scope(s, subject, verb)
    if "except" in s.words[-2:] or ("except" in s.words[verb:] and not s.closed):
        raise SkipError("exception")
    plan = at_quantifier(s, subject, verb)
    if plan is None:
        plan = (with_do if lexical else after_auxiliary)(s, verb, subject)
        plan = with_coordinated(a, plan) if others else plan
    elif others:
        raise SkipError("coordinated_clauses")
    counted = s.words[subject] in _NUMERALS and s.word(subject + 1) != "of"
    return plan._replace(confidence="medium") if counted or others or margin < DOUBT else plan


def _is_inverted(s: Sentence, subject: int, verb: int) -> bool:
    """Whether the subject stands behind its verb: "…", said the man; "Here comes the bus."."""
    if s.words[subject] in ("here", "here's") or s.word(subject + 1) == "please":
        return True
    if s.tags[verb] & f.CLITIC:
        return False
    if s.tags[subject] & f.QUOTED and s.tags[verb] & f.EMBED:
        return True
    fronted = s.words[subject] in ("such", "so") and verb == subject + 1
    if fronted or (s.words[subject] == "there" and s.words[verb] in _MOTION):
        return True
    if before_adverbs(s, verb, subject) < subject or _describes(s, subject, verb):
        return not s.tags[subject] & f.QUANT
    return bool(s.tags[subject] & f.PREP) and "," not in s.words[subject:verb] and _only_phrases(s, subject, verb)


def _describes(s: Sentence, start: int, verb: int) -> bool:
    """Whether a predicate stands before the verb: "Attached is …", "Equally important are …"."""
    if not s.tags[start] & _DESCRIBES or s.words[start] in _DAYS or not s.tags[verb] & f.BE:
        return False
    if not s.tag(verb + 1) & (f.NP_START | f.NAME | f.NUMBER):
        return False
    if not all(tag & _DESCRIBES for tag in s.tags[start:verb]) or s.tags[verb - 1] & f.NOUN:
        return False
    return verb > start + 1 or not s.tags[start] & _HEADS


def _only_phrases(s: Sentence, start: int, verb: int) -> bool:
    """Whether prepositional phrases alone stand before the verb, and its subject behind it."""
    opens = (k for k in range(start + 1, verb) if s.tags[k] & (f.NP_START | f.NAME))
    governed = all(s.tags[k - 1] & (f.PREP | f.DET | f.ADJ | f.NAME) for k in opens)
    follows = s.tag(verb + 1) & (f.DET | f.QUANT | (f.NAME if s.tags[verb] & f.BE else 0))
    return governed and bool(follows) and not s.tags[verb] & (f.HAVE | f.MODAL | f.DO)


def with_coordinated(a: Analysis, plan: EditPlan) -> EditPlan:
    """The plan, with further predicates of the same subject put under the same "do".

    A further clause with a subject of its own, an auxiliary or another tense stays as it is: the sentence as a whole is
    denied all the same.
    """
    s, clause = a.sentence, a.clause
    before = {i: s.tags[before_adverbs(s, i, clause.verb)] for i in clause.others}
    shared = [i for i, tag in before.items() if tag & (f.COORD | f.BREAK)]
    joined = any(tag & f.COORD for tag in before.values()) and "but" not in s.words[clause.verb :]
    if not joined or len(shared) < len(clause.others) or not clause.lexical:
        return plan
    _, support = base_and_support(s, clause.verb, a.subject)
    edits = []
    for i in shared:
        if s.tags[i] & f.AUX:
            return plan
        base, other = base_and_support(s, i, a.subject)
        if other != support:
            return plan
        edits.append(Edit(s.starts[i], s.ends[i], s.cased(base)))
    return EditPlan(edits=(*plan.edits, *edits), confidence="medium", kind="rewrite")


_UNIVERSAL = words("all every everyone everybody everything many much")
_EXISTENTIAL = {"someone": "no one", "somebody": "nobody", "something": "nothing"}
_OTHER = words(
    """
    each both most several few half either enough more less fewer any anyone anybody anything only
    almost nearly exactly mostly roughly just neither plenty
    """
)
_WEAKENING = words("sometimes occasionally")
"""They stay true beside a "not": "I do not feel like that sometimes"."""
_FREQUENCY = words("usually often sometimes generally typically always frequently occasionally normally rarely")
_ELSEWHERE = _OTHER | _FREQUENCY
_QUANTIFIERS = _UNIVERSAL | _OTHER | {"some"} | _EXISTENTIAL.keys()
_EXCEPT = words("except excluding apart outside but")
_WHENS = words(
    """
    day days night year time week month morning evening afternoon summer winter second along around over at in so
    """
)


def require_plain_scope(s: Sentence, subject: int, verb: int) -> None:
    """Pass when a "not" at the verb would have the whole proposition in its scope.

    Raises:
        SkipError: a quantifier or adverb would keep it in its own.
    """
    first = s.words[subject]
    if first in _ELSEWHERE or (first == "at" and s.word(subject + 1) in ("least", "most")):
        raise SkipError("quantifier_only")
    if first == "a" and s.word(subject + 1) in ("few", "lot"):
        raise SkipError("quantifier_only")
    adverbs = s.words[before_adverbs(s, verb, subject) + 1 : verb]
    if s.tags[verb] & f.AUX and is_adverb(s, verb - 1) and not _FREQUENCY.isdisjoint(adverbs):
        raise SkipError("quantifier_only")
    if not _WEAKENING.isdisjoint(s.words[verb + 1 :]):
        raise SkipError("quantifier_only")
    free = (s.words[i] for i in range(subject + 1, verb) if not s.tags[i - 1] & (f.PREP | f.DET))
    if s.tags[subject] & f.PREP and not _QUANTIFIERS.isdisjoint(free):
        raise SkipError("quantifier_only")


def at_quantifier(s: Sentence, subject: int, verb: int) -> EditPlan | None:
    """The plan that negates the subject's quantifier; None for other subjects.

    Raises:
        SkipError: the word quantifies something else, or has an exception.
    """
    word = s.words[subject]
    if word in _UNIVERSAL:
        return _not_all(s, subject)
    if word in _EXISTENTIAL:
        return _replace(s, subject, _EXISTENTIAL[word])
    if word == "some":
        if s.word(subject + 1)[:1].isdigit():
            raise SkipError("quantifier_only")
        alone = s.word(subject + 1) == "of" or before_adverbs(s, verb, subject) == subject
        return _replace(s, subject, "none" if alone else "no")
    return None


def _not_all(s: Sentence, subject: int) -> EditPlan:
    pronoun = s.words[subject] == "all" and s.tag(subject + 1) & f.SUBJ and not s.tag(subject + 1) & f.DET
    if pronoun or s.word(subject + 1) in _WHENS or any(word in _EXCEPT for word in s.words[subject:]):
        raise SkipError("quantifier_only")
    first = s.source(subject)[0]
    if s.text.isupper():
        return EditPlan(edits=(Edit(s.starts[subject], s.starts[subject], "NOT "),), kind="rewrite")
    cue = "Not " if first.isupper() else "not "
    return EditPlan(edits=(Edit(s.starts[subject], s.starts[subject] + 1, cue + first.lower()),), kind="rewrite")


def _replace(s: Sentence, at: int, new: str) -> EditPlan:
    return EditPlan(edits=(Edit(s.starts[at], s.ends[at], s.cased_as(at, new)),), kind="rewrite")


def negate_order(a: Analysis) -> EditPlan:
    """The plan that forbids what the sentence orders.

    Raises:
        SkipError: a second order or clause follows.
    """
    s, verb = a.sentence, a.clause.verb
    if a.clause.others:
        raise SkipError("coordinated_clauses")
    word = s.words[verb]
    if word == "let's" or (word == "let" and s.word(verb + 1) == "us") or (word == "do" and _bare(a, verb + 1)):
        after = verb + (word == "let")
        return with_any(s, after, (Edit(s.ends[after], s.ends[after], s.cased(" not")),), "high")
    verb = a.subject if s.words[a.subject] == "always" else verb
    first = s.source(verb)[0]
    support = "Do not " if first.isupper() else "do not "
    edit = Edit(s.starts[verb], s.starts[verb] + 1, s.cased(support + first.lower()))
    return with_any(s, verb, (edit,), "medium" if a.doubtful else "high", "rewrite")


def _bare(a: Analysis, i: int) -> bool:
    """Whether a bare verb follows an emphatic "do": "Do sit down."."""
    tag = a.sentence.tag(i)
    return bool(tag & f.BASE) and not tag & (f.DET | f.QUANT) and not tag & f.USUALLY_NOUN
