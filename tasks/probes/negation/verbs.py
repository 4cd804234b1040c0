"""Frequent verbs and their forms: a closed list, so that a verb is either known or left alone."""

from __future__ import annotations

from functools import cache

from contrapose.tasks.probes.negation import verb_list

BASE, THIRD, PAST, PART = 1 << 17, 1 << 18, 1 << 19, 1 << 20
VERBISH, NOUNISH, EMBED = 1 << 21, 1 << 22, 1 << 23


def third_person(base: str) -> str:
    """The third person singular of a verb: eat → eats, carry → carries."""
    if base in ("go", "do", "undergo"):
        return base + "es"
    if base == "have":
        return "has"
    if base.endswith("y") and base[-2] not in "aeiou":
        return base[:-1] + "ies"
    return base + ("es" if base.endswith(("s", "x", "z", "ch", "sh")) else "s")


def past_of(base: str) -> str | None:
    """The simple past of a known verb; None for an unknown one."""
    return _pasts().get(base)


def base_of(form: str) -> str | None:
    """The base of a known third-person or past form; a base gives itself; None when unknown."""
    return _bases().get(form)


@cache
def forms() -> dict[str, int]:
    """Every form of every known verb, with its flags."""
    found: dict[str, int] = {}
    for base in _all():
        kind = _kind(base)
        found[base] = found.get(base, 0) | BASE | kind
        third = third_person(base)
        found[third] = found.get(third, 0) | THIRD | kind
        past, part = _past_and_part(base)
        found[past] = found.get(past, 0) | PAST | (kind & EMBED)
        found[part] = found.get(part, 0) | PART | (kind & EMBED)
    for part in ("been", "had", "done"):
        found[part] = found.get(part, 0) | PART
    return found


@cache
def _all() -> tuple[str, ...]:
    groups = (verb_list.REGULAR, verb_list.VERBISH, verb_list.NOUNISH, " ".join(sorted(verb_list.EMBED)))
    return tuple(dict.fromkeys(" ".join(groups).split()))


@cache
def _classes() -> dict[str, int]:
    return dict.fromkeys(verb_list.NOUNISH.split(), NOUNISH) | dict.fromkeys(verb_list.VERBISH.split(), VERBISH)


@cache
def _irregular() -> dict[str, tuple[str, str]]:
    rows = (row.split() for row in verb_list.IRREGULAR.strip().replace("\n", "|").split("|"))
    return {base: (past, part) for base, past, part in rows}


@cache
def _pasts() -> dict[str, str]:
    return {base: _past_and_part(base)[0] for base in _all()}


@cache
def _bases() -> dict[str, str]:
    found = {past: base for base, past in _pasts().items()}
    found |= {third_person(base): base for base in _all()}
    return found | {base: base for base in _all() if base not in ("found", "felt")}


def _kind(base: str) -> int:
    return _classes().get(base, 0) | (EMBED if base in verb_list.EMBED else 0)


def _past_and_part(base: str) -> tuple[str, str]:
    if base in _irregular():
        return _irregular()[base]
    if base.endswith("e"):
        return base + "d", base + "d"
    if base.endswith("y") and base[-2] not in "aeiou":
        return base[:-1] + "ied", base[:-1] + "ied"
    stem = base + base[-1] if base in verb_list.DOUBLED else base
    return stem + "ed", stem + "ed"
