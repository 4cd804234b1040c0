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
_NUMERALS = words("one two three four five six seven eight nine ten")
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


def negate_statement(a: Analysis) -> EditPlan:
    """Return the plan that reverses a statement at its finite verb, or at the quantifier of its subject.

    Raises:
        SkipError: no sound plan.
    """
    s, _, _, subject, (_, verb, lexical, others, margin) = a
    if _is_inverted(s, subject, verb):
        raise SkipError("ambiguous_verb")
    _require_plain_scope(s, subject, verb)
    if "except" in s.words[-2:] or ("except" in s.words[verb:] and not s.closed):
        raise SkipError("exception")
    plan = _at_quantifier(s, subject, verb)
    if plan is None:
        plan = (with_do if lexical else after_auxiliary)(s, verb, subject)
        plan = _with_coordinated(a, plan) if others else plan
    elif others:
        raise SkipError("coordinated_clauses")
    counted = s.words[subject] in _NUMERALS and s.word(subject + 1) != "of"
    return plan._replace(confidence="medium") if counted or others or margin < DOUBT else plan


def _is_inverted(s: Sentence, subject: int, verb: int) -> bool:
    """Return whether the subject stands behind its verb: "…", said the man; "Here comes the bus."."""
    word, tag, main = s.words[subject], s.tags[subject], s.tags[verb]
    if word in ("here", "here's") or s.word(subject + 1) == "please":
        return True
    if main & f.CLITIC:
        return False
    fronted = word in ("such", "so") and verb == subject + 1
    if (tag & f.QUOTED and main & f.EMBED) or fronted or (word == "there" and s.words[verb] in _MOTION):
        return True
    # A predicate may stand before the verb: "Attached is …", "Equally important are …".
    describes = tag & _DESCRIBES and word not in _DAYS and main & f.BE
    describes = describes and s.tag(verb + 1) & (f.NP_START | f.NAME | f.NUMBER) and not s.tags[verb - 1] & f.NOUN
    describes = describes and all(tag & _DESCRIBES for tag in s.tags[subject:verb])
    describes = describes and (verb > subject + 1 or not tag & (f.NOUN | f.SUBJ | f.QUANT))
    if before_adverbs(s, verb, subject) < subject or describes:
        return not tag & f.QUANT
    if not tag & f.PREP or "," in s.words[subject:verb] or main & (f.HAVE | f.MODAL | f.DO):
        return False
    # Prepositional phrases alone may stand before the verb, and its subject behind it.
    opens = (k for k in range(subject + 1, verb) if s.tags[k] & (f.NP_START | f.NAME))
    governed = all(s.tags[k - 1] & (f.PREP | f.DET | f.ADJ | f.NAME) for k in opens)
    return governed and bool(s.tag(verb + 1) & (f.DET | f.QUANT | (f.NAME if main & f.BE else 0)))


def _require_plain_scope(s: Sentence, subject: int, verb: int) -> None:
    """Pass when a "not" at the verb would have the complete proposition in its scope.

    Raises:
        SkipError: a quantifier or adverb would keep it in its own.
    """
    first, second = s.words[subject], s.word(subject + 1)
    quantified = first in _ELSEWHERE or (first, second) in (("at", "least"), ("at", "most"), ("a", "few"), ("a", "lot"))
    adverbs = s.words[before_adverbs(s, verb, subject) + 1 : verb]
    often = s.tags[verb] & f.AUX and is_adverb(s, verb - 1) and not _FREQUENCY.isdisjoint(adverbs)
    free = (s.words[i] for i in range(subject + 1, verb) if not s.tags[i - 1] & (f.PREP | f.DET))
    in_phrase = s.tags[subject] & f.PREP and not _QUANTIFIERS.isdisjoint(free)
    if quantified or often or in_phrase or not _WEAKENING.isdisjoint(s.words[verb + 1 :]):
        raise SkipError("quantifier_only")


def _at_quantifier(s: Sentence, subject: int, verb: int) -> EditPlan | None:
    """Return the plan that negates the subject's quantifier; None for other subjects.

    Raises:
        SkipError: the word quantifies something else, or has an exception.
    """
    word, behind = s.words[subject], s.word(subject + 1)
    start, end, new = s.starts[subject], s.ends[subject], ""
    if word in _UNIVERSAL:
        pronoun = word == "all" and s.tag(subject + 1) & f.SUBJ and not s.tag(subject + 1) & f.DET
        if pronoun or behind in _WHENS or not _EXCEPT.isdisjoint(s.words[subject:]):
            raise SkipError("quantifier_only")
        first = s.source(subject)[0]
        edit = Edit(start, start + 1, ("Not " if first.isupper() else "not ") + first.lower())
        edit = Edit(start, start, "NOT ") if s.text.isupper() else edit
        return EditPlan(edits=(edit,), kind="rewrite")
    if word in _EXISTENTIAL:
        new = _EXISTENTIAL[word]
    elif word == "some":
        if behind[:1].isdigit():
            raise SkipError("quantifier_only")
        new = "none" if behind == "of" or before_adverbs(s, verb, subject) == subject else "no"
    return EditPlan(edits=(Edit(start, end, s.cased_as(subject, new)),), kind="rewrite") if new else None


def _with_coordinated(a: Analysis, plan: EditPlan) -> EditPlan:
    """Return the plan, with further predicates of the same subject put under the same "do".

    A further clause with a subject of its own, an auxiliary or another tense stays as it is: the sentence is denied
    all the same.
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


def negate_order(a: Analysis) -> EditPlan:
    """Return the plan that forbids what the sentence orders.

    Raises:
        SkipError: a second order or clause follows.
    """
    s, verb = a.sentence, a.clause.verb
    if a.clause.others:
        raise SkipError("coordinated_clauses")
    word, behind = s.words[verb], s.tag(verb + 1)
    # "Do sit down.": a bare verb follows an emphatic "do".
    emphatic = word == "do" and behind & f.BASE and not behind & (f.DET | f.QUANT | f.USUALLY_NOUN)
    if word == "let's" or (word == "let" and s.word(verb + 1) == "us") or emphatic:
        after = verb + (word == "let")
        return with_any(s, after, (Edit(s.ends[after], s.ends[after], s.cased(" not")),), "high")
    verb = a.subject if s.words[a.subject] == "always" else verb
    first = s.source(verb)[0]
    support = "Do not " if first.isupper() else "do not "
    edit = Edit(s.starts[verb], s.starts[verb] + 1, s.cased(support + first.lower()))
    return with_any(s, verb, (edit,), "medium" if a.doubtful else "high", "rewrite")
