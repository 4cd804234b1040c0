"""Verbs and nouns that decide whether agent and patient can change places."""

from __future__ import annotations

from contrapose.tasks.probes.english.words import words

SYMMETRIC = words(
    """
    marry divorce wed meet resemble equal border adjoin neighbor neighbour match join fight battle date kiss embrace hug
    touch intersect parallel rival mirror mate befriend face encounter accompany overlap complement contradict debate
    wrestle duel approximate balance counterbalance cross combine mix
    """
)
"""What one does to the other, the other does too."""
WITHOUT_OBJECT = words(
    """
    be become remain seem appear stay cost weigh last total number measure sound look feel smell taste comprise
    constitute represent mean
    """
)
"""A noun phrase behind them is no patient: it describes the subject, or is a measure."""
INTRANSITIVE = words("go come live sleep arrive die fall walk happen occur rain snow lie rise sit stand smile exist")
"""Verbs behind which a noun phrase says when or how."""
OF_VERBS = words("accuse rob deprive remind inform convince cure strip rid relieve suspect warn assure notify acquit")
"""Verbs whose object ends before "of": "accused the man of theft"."""
IDIOMS = words(
    """
    take-place take-part take-care take-shape take-root take-effect take-note take-hold take-turns take-advantage
    take-aim take-off pay-attention make-sense make-way make-use give-birth give-way give-rise catch-fire catch-sight
    lose-weight gain-weight keep-pace keep-track have-fun play-host set-sail
    """
)
"""A verb and a bare noun that together say one thing."""
GIVING = words("give send tell show teach offer lend hand bring owe pay sell promise pass buy grant award feed")
"""Verbs that take a second object behind the first."""
ASKING = words("ask tell order force persuade teach urge allow invite encourage help advise warn beg remind convince")
"""Verbs whose object does what the infinitive behind it says."""
PREDICATING = words(
    """
    make keep leave find consider call name elect appoint paint dye color colour turn drive get render declare label
    deem think believe crown brand dub
    """
)
"""Verbs behind whose object another word may describe it."""
WITH_PARTICLE = words(
    """
    pick-up turn-on turn-off put-on put-out throw-out knock-down knock-over knock-out carry-out take-over set-up
    bring-up bring-down shut-down tear-down break-up call-off cut-down cut-off hand-over wipe-out blow-up track-down
    beat-up
    """
)
"""Verbs whose particle stands before a full object."""
BY_PLACE = words("park place put leave seat locate situate bury camp anchor dock moor find build sit stand")
"""Participles behind which "by" may say where."""
MEANS = words(
    """
    car bus train plane boat ship foot hand mail email post phone telephone radio land sea air accident mistake chance
    law default definition means way virtue noon order request midnight night day dawn dusk now then
    """
)
"""Behind "by" these say how or when, not who."""
MEASURES = words(
    """
    second seconds minute minutes hour hours day days week weeks month months year years decade decades century
    centuries time times morning afternoon evening night nights spring summer autumn fall winter weekend
    monday tuesday wednesday thursday friday saturday sunday today yesterday tomorrow
    inch inches foot feet yard yards mile miles meter meters metre metres kilometer kilometers kilometre kilometres
    centimeter centimeters centimetre centimetres pound pounds kilogram kilograms gram grams ton tons percent degrees
    """
)
"""As the last word of a phrase they say how long, how often or how much."""
