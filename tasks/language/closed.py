"""The closed word classes of English, such as articles and pronouns; their words are listed here."""

from __future__ import annotations

from functools import cache

from contrapose.tasks.language import flags as f


def words(text: str) -> frozenset[str]:
    """Return the set of words of a text that white space separates."""
    return frozenset(text.split())


_CLASSES: dict[int, str] = {
    f.BE: "is are was were am",
    f.HAVE: "has have had",
    f.DO: "do does did",
    f.MODAL: "can could will would shall should must may might ought",
    f.DET: "the a an my your his her its our their this these whose that those",
    f.QUANT: """
        some any all every each many much most several both few more less fewer enough another either those one two
        three four five six seven eight nine ten eleven twelve dozens hundreds thousands millions plenty
    """,
    f.SUBJ: """
        i you he she it we they there this that these those someone everyone somebody everybody something
        everything anyone anything anybody nobody nothing none noone
    """,
    f.OBJ: "me him them us myself yourself itself himself herself ourselves themselves yourselves her you it",
    f.PREP: """
        of in on at by for with from into onto about under over above below between among through during within without
        against across along around behind beneath beside beyond inside outside near off out per toward towards upon via
        up down unlike despite throughout except amid amidst among past regarding concerning
    """,
    f.REL: "who whom which that what where whose why how whatever whoever",
    f.SUB: "when if because although though while whereas unless whether whenever wherever once lest",
    f.LOOSE: "after before since until till than like as",
    f.COORD: "and or but yet so plus nor",
    f.WH: "what which who whom whose where when why how",
    f.NEG: """
        not cannot no none nobody nothing nowhere neither nor noone dont doesnt didnt isnt arent wasnt
        werent wont cant couldnt wouldnt shouldnt hasnt havent hadnt ain't
    """,
    f.SEMI: "never hardly rarely seldom scarcely barely",
    f.ADV: """
        also still already now then often always usually sometimes just only even ever again too very quite rather
        almost soon perhaps maybe however therefore thus hence instead indeed generally best better well most more once
        twice here today tonight yesterday tomorrow together currently later first last long all away back ago forever
        please nearly merely simply primarily though yet both each alone anyway else fast hard
    """,
    f.SMALL: "few little yet either",
    f.ING: "being having doing",
    f.TO: "to gonna wanna gotta",
    f.BREAK: ", ; : - \u2013 — …",
}

_CLITICS = {
    "'s": "it he she that there here what who where which how when this everyone someone everything something",
    "'re": "you we they there what who these those",
    "'m": "i",
    "'ve": "i you we they who these those",
    "'d": "i you he she it we they there who that how what where when why",
    "'ll": "i you he she it we they there that this who what these those",
}
_NT_REGULAR = words("is are was were has have had do does did could would should might must need")

SENTENCE_ADVERBS = words("""
    probably certainly definitely possibly presumably apparently surely likely reportedly allegedly supposedly
    undoubtedly perhaps maybe clearly obviously evidently
""")
NARROW = words("only just merely solely exclusively")
NT_HOSTS = {f"{host}n't": host for host in sorted(_NT_REGULAR)} | {"can't": "can", "won't": "will", "shan't": "shall"}
"""Contracted negations and the auxiliaries in them."""
OPEN_TOO = words("like need dare last lower")
"""Words of a closed class that are full verbs as well."""
OPEN_NOMINALS = words("little second round near long best better well one back own past fast hard first")
"""Words of a closed class that are nouns or adjectives as well."""
ACRONYMS = words("WHO US IT AM MAY CAN WILL")
"""Closed-class words that stand for something else in capitals."""
PLURAL_PRONOUNS = words("i you we they these those both many few several")


@cache
def build_closed_classes() -> dict[str, int]:
    """Return the flags of every word of a closed class; words are in lower case with straight apostrophes."""
    flags: dict[str, int] = {}
    for flag, listed in _CLASSES.items():
        for word in words(listed):
            flags[word] = flags.get(word, 0) | flag
    for ending, hosts in _CLITICS.items():
        for host in hosts.split():
            flags[host + ending] = f.CLITIC | (flags.get(host, 0) & (f.SUBJ | f.WH | f.REL))
    flags["that's"] = f.CLITIC | f.SUBJ
    flags["cannot"] = f.NEG | f.MODAL
    for word in NT_HOSTS:
        flags[word] = f.NEG | flags.get(NT_HOSTS[word], f.MODAL)
    return flags
