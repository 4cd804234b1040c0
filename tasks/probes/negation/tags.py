"""Word classes as bit flags: what a word can be, judged from closed lists alone."""

from __future__ import annotations

from functools import cache

from contrapose.tasks.probes.negation import verbs
from contrapose.tasks.probes.negation.words import words

BE, HAVE, DO, MODAL, CLITIC = 1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 4
DET, QUANT, SUBJ, PREP = 1 << 5, 1 << 6, 1 << 7, 1 << 8
REL, SUB, LOOSE, COORD = 1 << 9, 1 << 10, 1 << 11, 1 << 12
ADV, WH, NEG, SEMI = 1 << 13, 1 << 14, 1 << 15, 1 << 16
BASE, THIRD, PAST, PART = verbs.BASE, verbs.THIRD, verbs.PAST, verbs.PART
VERBISH, NOUNISH, EMBED = verbs.VERBISH, verbs.NOUNISH, verbs.EMBED
TO, ADJ, BREAK, OBJ, QUOTED = 1 << 24, 1 << 25, 1 << 26, 1 << 27, 1 << 28

AUX = BE | HAVE | DO | MODAL | CLITIC
FINITE_FORM = BASE | THIRD | PAST
NP_START = DET | QUANT | SUBJ
OPENER = REL | SUB
FUNCTION = DET | QUANT | SUBJ | PREP | REL | SUB | LOOSE | COORD | ADV | WH | NEG | SEMI | TO | BREAK | AUX | OBJ

_CLASSES: dict[int, str] = {
    BE: "is are was were am",
    HAVE: "has have had",
    DO: "do does did",
    MODAL: "can could will would shall should must may might ought",
    DET: "the a an my your his her its our their this these whose",
    QUANT: """
        some any all every each many much most several both few more less fewer enough another either
        those one two three four five six seven eight nine ten half
    """,
    SUBJ: """
        i you he she it we they there this these those someone everyone somebody everybody something
        everything anyone anything anybody
    """,
    OBJ: "me him them us itself themselves himself herself",
    PREP: """
        of in on at by for with from into onto about under over above below between among through during
        within without against across along around behind beneath beside beyond inside outside near off
        out per toward towards upon via up down unlike despite throughout except amid past
    """,
    REL: "who whom which that what where whose why how",
    SUB: "when if because although though while whereas unless whether whenever wherever once lest",
    LOOSE: "after before since until till than like as",
    COORD: "and or but yet so plus",
    WH: "what which who whom whose where when why how",
    NEG: """
        not cannot no none nobody nothing nowhere neither nor noone dont doesnt didnt isnt arent wasnt
        werent wont cant couldnt wouldnt shouldnt hasnt havent hadnt
    """,
    SEMI: "never hardly rarely seldom scarcely barely",
    ADV: """
        also still already now then often always usually sometimes just only even ever again too very
        quite rather almost soon perhaps maybe however therefore thus hence instead indeed generally
        best better well most more once twice here today together ever currently later first
    """,
    TO: "to",
    ADJ: """
        red blue green white black yellow brown grey gray hot cold warm cool wet dry big small large
        little tall short long high low old new young safe happy sad normal alive dead true false easy
        hard good bad right wrong rich poor heavy soft fast slow bright dark deep round flat open full
        empty healthy sick important common rare ready able hungry tired free clean dirty loud quiet
        strong weak thick thin sweet sour bitter edible solid liquid larger smaller bigger taller older
        younger hotter colder faster slower heavier lighter better worse higher lower closer useful
        possible likely afraid asleep awake
    """,
    BREAK: ", ; : - \u2013 —",
}

_CLITICS = {
    "'s": "it he she that there here what who where which how when this",
    "'re": "you we they there what who",
    "'m": "i",
    "'ve": "i you we they",
    "'d": "i you he she it we they there who",
    "'ll": "i you he she it we they there that this who what",
}

SENTENCE_ADVERBS = words(
    """
    probably certainly definitely possibly presumably apparently surely likely reportedly allegedly
    supposedly
    """
)
NARROW = words("only just merely solely simply")
_NT_REGULAR = words("is are was were has have had do does did could would should might must")
NT_HOSTS = {f"{host}n't": host for host in sorted(_NT_REGULAR)} | {
    "can't": "can",
    "won't": "will",
    "shan't": "shall",
}
"""Contracted negations and the auxiliaries in them."""


@cache
def table() -> dict[str, int]:
    """Every known word, in lower case with straight apostrophes, and its flags."""
    found = dict(verbs.forms())
    for flag, listed in _CLASSES.items():
        for word in listed.split():
            found[word] = found.get(word, 0) | flag
    for ending, hosts in _CLITICS.items():
        for host in hosts.split():
            found[host + ending] = CLITIC | (found[host] & (SUBJ | WH | REL))
    found["that's"] = CLITIC | SUBJ
    found["cannot"] = NEG | MODAL
    for word in NT_HOSTS:
        found[word] = NEG | found[NT_HOSTS[word]]
    return found


def is_adverb(word: str, tag: int) -> bool:
    """Whether the word may stand between an auxiliary and its verb without being a noun or a verb."""
    return bool(tag & ADV) or (word.endswith("ly") and not tag & FINITE_FORM and word not in _NOT_ADVERBS)


def is_participle(word: str, tag: int) -> bool:
    """Whether the word can be a past participle."""
    return bool(tag & PART) or (word.endswith("ed") and len(word) > 4 and word not in _NOT_PARTICIPLES)


def is_plural(word: str) -> bool:
    """Whether a noun looks plural."""
    if word in _PLURALS:
        return True
    return word.endswith("s") and not word.endswith(("ss", "us", "is", "'s")) and word not in _SINGULAR_S


_NOT_ADVERBS = words(
    """
    fly supply apply reply rely family butterfly belly jelly bully lily italy july assembly anomaly
    monopoly ally likely early daily friendly lovely lonely only curly hilly deadly elderly unlikely
    ugly silly holy
    """
)
_NOT_PARTICIPLES = words(
    """
    need seed speed breed hundred sacred naked indeed reed weed feed bleed greed creed exceed proceed
    succeed steed kindred hatred shed sled embed infrared watershed
    """
)
_PLURALS = words(
    """
    people children men women mice geese feet teeth bacteria fungi larvae algae cattle police oxen
    wolves leaves they we you i these those both many tuna sheep deer humans prey offspring species
    data fish
    """
)
_SINGULAR_S = words(
    """
    gas physics mathematics news texas paris james charles thomas mars series species lens atlas
    christmas diabetes aids kansas arkansas politics athletics genetics electronics lioness
    """
)
