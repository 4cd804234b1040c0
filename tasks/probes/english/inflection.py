"""How verbs inflect, and back."""

from __future__ import annotations

from contrapose.tasks.probes.english import flags as f
from contrapose.tasks.probes.english.vocabulary import VERB_ENDINGS, stem_of, vocabulary


def base_of(form: str, kind: int) -> str | None:
    """The base of a verb form read as `kind` (BASE, THIRD, PAST, PART or ING); None when it is not known."""
    known = vocabulary()
    if kind == f.BASE:
        return form
    if form in known.bases[kind]:
        return known.bases[kind][form]
    stem, prefix = stem_of(form)
    if stem:
        base = base_of(stem, kind)
        return None if base is None else prefix + base
    return _regular_base(form)


def third_person(base: str) -> str:
    """The third person singular of a verb: eat → eats, carry → carries."""
    if base in ("have", "be"):
        return {"have": "has", "be": "is"}[base]
    if base in ("go", "do", "undergo", "forego"):
        return base + "es"
    if base.endswith("y") and base[-2:-1] not in tuple("aeiou"):
        return base[:-1] + "ies"
    return base + ("es" if base.endswith(("s", "x", "z", "ch", "sh")) else "s")


def past_of(base: str) -> str:
    """The simple past of a verb; regular when it is not known."""
    known = vocabulary().verbs.get(base)
    if known:
        return known[0]
    stem, prefix = stem_of(base)
    if stem in vocabulary().verbs:
        return prefix + past_of(stem)
    if base.endswith("y") and base[-2:-1] not in tuple("aeiou"):
        return base[:-1] + "ied"
    return base + ("d" if base.endswith("e") else "ed")


def _regular_base(form: str) -> str | None:
    """The base of an unknown form whose ending leaves no doubt."""
    if form.endswith(("ifies", "ified")):
        return form[:-3] + "y"
    if form.endswith("lled") and form[:-3] in vocabulary().verbs:
        return form[:-3]  # British: levelled, travelled
    for ending in ("ize", "ise", "ate"):
        if form in (form[: -len(ending) - 1] + ending + "s", form[: -len(ending) - 1] + ending + "d"):
            return form[:-1]
    return form if form.endswith(VERB_ENDINGS) else None
