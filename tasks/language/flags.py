"""Word classes as bit flags; a word has one flag for each class that it can belong to."""

from __future__ import annotations

BE, HAVE, DO, MODAL, CLITIC = 1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 4
DET, QUANT, SUBJ, OBJ, PREP = 1 << 5, 1 << 6, 1 << 7, 1 << 8, 1 << 9
REL, SUB, LOOSE, COORD = 1 << 10, 1 << 11, 1 << 12, 1 << 13
ADV, WH, NEG, SEMI, TO = 1 << 14, 1 << 15, 1 << 16, 1 << 17, 1 << 18
BREAK, QUOTED, NUMBER = 1 << 19, 1 << 20, 1 << 21

BASE, THIRD, PAST, PART, ING = 1 << 22, 1 << 23, 1 << 24, 1 << 25, 1 << 26
"""Forms of a full verb: eat, eats, ate, eaten, eating."""
SINGULAR, PLURAL, ADJ = 1 << 27, 1 << 28, 1 << 29
"""What else an open-class word can be."""
USUALLY_VERB, USUALLY_NOUN, USUALLY_ADJ = 1 << 30, 1 << 31, 1 << 32
"""Its most frequent class in running text."""
RARELY_VERB = 1 << 35
"""A noun that the dictionary lists as a verb too, but that hardly ever is one."""
EMBED = 1 << 33
"""A form of a verb that takes a clause: say, think, show …"""
NAME = 1 << 34
"""Capitalised inside a sentence: whatever it is elsewhere, here it is a name."""

AUX = BE | HAVE | DO | MODAL | CLITIC
FINITE = BASE | THIRD | PAST
VERB = FINITE | PART | ING
NOUN = SINGULAR | PLURAL
NP_START = DET | QUANT | SUBJ
OPENER = REL | SUB
CLOSED = DET | QUANT | SUBJ | OBJ | PREP | REL | SUB | LOOSE | COORD | ADV | WH | NEG | SEMI | TO | BREAK | AUX
"""Words that are no noun, full verb or adjective."""
SMALL = 1 << 36
"""A word that may deny without being a negation: few, little, yet."""
