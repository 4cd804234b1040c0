"""Adjectives and their opposites, in their three degrees.

Only words whose opposite is the same whatever they describe: "old" (new, young), "light" (heavy, dark), "hard"
(soft, easy), "short" (long, tall) are opposites of other words here, and have none themselves.
"""

from __future__ import annotations

from functools import cache
from typing import Literal, NamedTuple

from contrapose.tasks.language.closed import words

Degree = Literal["positive", "comparative", "superlative"]

_BOTH_WAYS = words(
    """
    able/unable abundant/scarce acceptable/unacceptable accurate/inaccurate acidic/alkaline active/inactive
    adequate/inadequate alive/dead appropriate/inappropriate asleep/awake attractive/unattractive audible/inaudible
    aware/unaware bitter/sweet bold/timid capable/incapable careful/careless cheap/expensive clean/dirty
    comfortable/uncomfortable complete/incomplete complex/simple concave/convex conscious/unconscious
    consistent/inconsistent convenient/inconvenient correct/incorrect deep/shallow dependent/independent
    different/identical difficult/easy dim/bright direct/indirect dynamic/static edible/inedible effective/ineffective
    efficient/inefficient elastic/inelastic equal/unequal explicit/implicit fair/unfair faithful/unfaithful
    familiar/unfamiliar feminine/masculine fertile/infertile finite/infinite flammable/nonflammable flexible/rigid
    formal/informal fortunate/unfortunate frequent/infrequent friendly/unfriendly full/empty generous/stingy good/bad
    grateful/ungrateful guilty/innocent happy/unhappy harmful/harmless healthy/unhealthy helpful/unhelpful high/low
    honest/dishonest horizontal/vertical hospitable/inhospitable hot/cold important/unimportant inferior/superior
    internal/external introverted/extroverted junior/senior large/small lazy/hardworking legal/illegal legible/illegible
    lenient/strict liquid/solid literate/illiterate logical/illogical loud/quiet loyal/disloyal lucky/unlucky
    magnetic/nonmagnetic major/minor male/female mandatory/optional manual/automatic mature/immature maximal/minimal
    metallic/nonmetallic mobile/immobile moral/immoral mortal/immortal necessary/unnecessary obedient/disobedient
    objective/subjective official/unofficial opaque/transparent open/closed optimistic/pessimistic organic/inorganic
    patient/impatient peaceful/violent perfect/imperfect permanent/temporary pleasant/unpleasant plural/singular
    polite/rude popular/unpopular positive/negative possible/impossible powerful/powerless practical/impractical
    precise/imprecise predictable/unpredictable present/absent probable/improbable productive/unproductive
    profitable/unprofitable public/private qualitative/quantitative rational/irrational realistic/unrealistic
    reasonable/unreasonable regular/irregular relevant/irrelevant reliable/unreliable renewable/nonrenewable
    responsible/irresponsible reversible/irreversible ripe/unripe rough/smooth rural/urban safe/unsafe sane/insane
    satisfactory/unsatisfactory secure/insecure selfish/unselfish sensitive/insensitive sharp/blunt shy/outgoing
    significant/insignificant similar/dissimilar slow/fast soluble/insoluble stable/unstable strong/weak stupid/smart
    successful/unsuccessful sudden/gradual sufficient/insufficient suitable/unsuitable symmetric/asymmetric
    symmetrical/asymmetrical sympathetic/unsympathetic tight/loose tolerant/intolerant true/false typical/atypical
    urgent/nonurgent useful/useless usual/unusual valid/invalid visible/invisible voluntary/involuntary warm/cool
    wasteful/economical wet/dry wide/narrow wild/tame willing/unwilling wise/foolish worthy/unworthy likely/unlikely
    """
)
_ONE_WAY = words(
    """
    abstract/concrete afraid/unafraid alike/different ancient/modern arid/wet arrogant/humble artificial/natural
    beautiful/ugly big/small boring/interesting brave/cowardly brief/long broad/narrow certain/uncertain clever/stupid
    cloudy/clear common/uncommon complicated/simple compulsory/optional costly/cheap cruel/kind crooked/straight
    crowded/deserted damp/dry dangerous/safe dark/light delicious/disgusting deserted/crowded digital/analog
    enormous/tiny exciting/boring fake/genuine famous/unknown fat/thin fictional/real filthy/clean fragile/sturdy
    gaseous/solid genuine/fake gigantic/tiny greedy/generous heavy/light hollow/solid hostile/friendly huge/tiny
    humble/arrogant humid/dry ill/healthy imaginary/real immense/tiny intelligent/stupid interesting/boring late/early
    early/late lengthy/brief long/short massive/tiny messy/tidy modern/old-fashioned nearby/distant nervous/calm
    noisy/quiet obese/thin obligatory/optional plentiful/scarce poisonous/harmless quick/slow rapid/slow rare/common
    rich/poor sad/happy sick/healthy silent/noisy soft/hard sour/sweet spacious/cramped stale/fresh steady/unsteady
    stiff/flexible stormy/calm sturdy/fragile sunny/cloudy swift/slow talkative/quiet tall/short thick/thin
    tidy/untidy tiny/huge toxic/harmless ugly/beautiful uncertain/certain unclear/clear unknown/known uncommon/common
    unemployed/employed unmarried/married untidy/tidy untrue/true vacant/occupied vague/precise vast/tiny wealthy/poor
    wrong/right young/old
    """
)
BARE = words(
    """
    absent certain deserted different dependent famous full identical ill independent nearby responsible safe
    sick silent slow unemployed unknown unmarried wild worthy
    """
)
"""Their complement ("full of", "famous for", "safe from") does not go with the opposite."""
_INFLECTED = words(
    """
    big bitter blunt bold brave bright broad calm cheap clean clear clever cold cool cruel damp dark deep dim dirty
    dry early easy fair fast fat filthy fresh friendly good bad happy hard healthy heavy high hot huge humble kind
    large late light long loose loud low lucky messy narrow noisy old poor quick quiet rare rich ripe rough rude
    sad safe shallow sharp short shy sick slow small smart smooth soft sour stiff stormy straight strict strong sturdy
    sunny sweet swift tall tame tidy thick thin tight tiny ugly vast warm weak wealthy wet wide wild wise young
    """
)
_DOUBLED = words("big dim fat hot sad thin wet")
_IRREGULAR = {"good": ("better", "best"), "bad": ("worse", "worst"), "shy": ("shyer", "shyest")}


class Opposite(NamedTuple):
    """Opposite of an adjective."""

    word: str
    """The opposite, in the same degree."""
    base: str
    """The adjective itself, in its positive degree."""
    degree: Degree
    """The degree of both."""


@cache
def opposites() -> dict[str, Opposite]:
    """Return every known form of an adjective, in lower case, with its opposite."""
    pairs = {tuple(pair.split("/")) for pair in _BOTH_WAYS | _ONE_WAY}
    reversed_pairs = {tuple(reversed(pair.split("/"))) for pair in _BOTH_WAYS}
    table: dict[str, Opposite] = {}
    for base, other in sorted(pairs | reversed_pairs):
        table[base] = Opposite(other, base, "positive")
        if base in _INFLECTED:
            table[comparative(base)] = Opposite(comparative(other, unless=base), base, "comparative")
            table[superlative(base)] = Opposite(superlative(other, unless=base), base, "superlative")
    return table


def comparative(base: str, *, unless: str = "") -> str:
    """Return the comparative of an adjective; the lesser degree of `unless` where it is a long word with a prefix."""
    if base in _INFLECTED:
        return _inflect(base, "er")
    return f"less {unless}" if unless and base.endswith(unless) else f"more {base}"


def superlative(base: str, *, unless: str = "") -> str:
    """Return the superlative of an adjective; the least degree of `unless` where it is a long word with a prefix."""
    if base in _INFLECTED:
        return _inflect(base, "est")
    return f"least {unless}" if unless and base.endswith(unless) else f"most {base}"


def _inflect(base: str, ending: str) -> str:
    """Return an adjective with its ending: big, bigger, biggest."""
    if base in _IRREGULAR:
        return _IRREGULAR[base][ending == "est"]
    if base.endswith("y"):
        return f"{base[:-1]}i{ending}"
    return base.removesuffix("e") + (base[-1] if base in _DOUBLED else "") + ending
