"""Compare the main verb that the rules found with spaCy's parse, if spaCy and a model are installed."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from importlib.metadata import PackageNotFoundError, entry_points, version
from typing import Any, cast

from contrapose.tasks.core.errors import ConfigError, install_command
from contrapose.tasks.language.analysis import analyse
from contrapose.tasks.language.closed import words
from contrapose.tasks.probes.negation.result import Negation, SkipError
from contrapose.tasks.probes.negation.statement import plan_order_negation, plan_statement_negation

_AUXILIARY = words("aux auxpass")
_FINITE = words("MD VBD VBP VBZ")
_VERB = _FINITE | {"VB"}
"""An order is a bare form; the small models also call many a plural verb one."""
_UNREAD = ("ner", "lemmatizer")
_LONGEST = 10_000
"""Characters beyond which a sentence is not parsed: what spaCy takes grows with them."""


Parse = Callable[[str], Any]
"""spaCy's parse of a text: an object whose `sents` have a `root`, whose tokens have `idx`, `dep_`, `tag_`, `lefts`."""


def add_second_opinion(text: str, negation: Negation, parse: Parse) -> Negation:
    """Return the negation of a statement or an order with a revised confidence; leave other negations unchanged.

    If the parse has the same finite verb in the main clause, a doubt about the verb is settled, and other reasons for
    medium confidence stay. If it has another verb, the confidence is medium.
    """
    a = analyse(text) if negation.text is not None else None
    if a is None or a.kind not in ("statement", "order"):
        return negation
    s, verb, begin, agrees = a.sentence, a.clause.verb, a.sentence.starts[0], False
    if len(s.text) - begin <= _LONGEST:
        *_, last = parse(s.text[begin:]).sents
        # The first finite auxiliary of the root, else the root itself: a full verb, or a copula.
        auxiliaries = (word for word in last.root.lefts if word.dep_ in _AUXILIARY and word.tag_ in _FINITE)
        main = next(auxiliaries, last.root)
        # A range, since spaCy splits what the rules read as one word: "it" and "'s", "can" and "not".
        agrees = main.tag_ in _VERB and begin + main.idx in range(s.starts[verb], s.ends[verb])
    if not agrees:
        return replace(negation, confidence="medium")
    if not a.doubtful or negation.kind == "remove":
        return negation
    # The confidence that the rules have when no other reading of the verb is left.
    sure = a._replace(clause=a.clause._replace(margin=math.inf))
    try:
        plan = plan_order_negation(sure) if a.kind == "order" else plan_statement_negation(sure)
    except SkipError:
        return replace(negation, confidence="medium")  # with options a question behind the statement was negated
    return replace(negation, confidence=plan.confidence)


def get_spacy_versions(model: str) -> dict[str, str]:
    """Return the versions of spaCy and of a model without importing them; raise ConfigError if one is missing."""
    try:
        spacy = version("spacy")
    except PackageNotFoundError:
        raise _missing("spaCy", f"Install it with {install_command('spacy')}, then a model") from None
    # Models declare themselves; any other package by that name is not imported.
    installed = [entry.dist.version for entry in entry_points(group="spacy_models", name=model) if entry.dist]
    if not installed:
        raise _missing(f"the spaCy model {model!r}", "Install a model, or name an installed one as spacy_model")
    return {"spacy": spacy, model: installed[0]}


@cache
def load_parser(model: str) -> Parse:
    """Load an installed spaCy model once per process, never download one; raise ConfigError if that fails."""
    installed = get_spacy_versions(model)
    import spacy

    try:
        loaded = spacy.load(model, exclude=_UNREAD)
    except (OSError, ValueError, ImportError) as error:
        raise _unusable(f"spaCy {installed['spacy']} cannot load it ({type(error).__name__})", model) from error
    if "parser" not in loaded.pipe_names:
        raise _unusable("it has no parser", model)
    return cast(Parse, loaded)


def _missing(what: str, remedy: str) -> ConfigError:
    return ConfigError(
        f"{what} is not installed",
        expected="what second_opinion: spacy needs",
        remedy=f"{remedy} (docs/second-opinion.md), or set second_opinion: none.",
        where="tests.sensitivity.add_negation.second_opinion",
    )


def _unusable(problem: str, model: str) -> ConfigError:
    return ConfigError(
        problem,
        expected="an English model with a parser, of a version for this spaCy",
        remedy="Name another one, or install the version that fits.",
        where=f"tests.sensitivity.add_negation.spacy_model {model!r}",
    )
