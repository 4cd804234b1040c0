"""The closed list of verbs: plain words, grouped by how surely a form is a verb."""

from __future__ import annotations

from contrapose.tasks.probes.negation.words import words

# Never, or hardly ever, nouns: the form alone shows the verb.
REGULAR = """
boil dive hit close vanish hover contract graze chew crawl dwell absorb accept achieve acquire adapt add adopt
affect allow announce appear apply argue arrive attract avoid belong breathe carry celebrate choke
circulate collect combine compete compose compress conduct connect consist constitute construct consume
contain continue contribute convert create crystallize cultivate decide decompose define deliver
demonstrate depend derive describe destroy detect determine develop differ digest disappear discover
dissolve divide earn eliminate emerge emit enable encourage enter erode establish evaporate evolve
examine exceed exist expand explain extract fertilize follow form gather generate germinate govern happen
harvest hatch hibernate identify illustrate improve include indicate inhabit inherit insulate invent
involve join locate maintain migrate multiply observe obtain occur occupy operate oppose organize perform
pollinate possess preserve prefer prevent produce protect provide publish purify realize receive reflect
regulate relate rely remove repel represent reproduce require resemble reside respire reveal revolve
rotate satisfy scatter seem separate serve stimulate suffer suggest surround survive tend thrive
transform transmit transpire travel try undergo urinate vaporize vary vibrate want warn weigh allocate
accompany accumulate activate appoint approve arrange assist associate assume attach attend believe
borrow bury capture characterize choose classify climb communicate confirm conserve consider convince
cooperate defeat defend depict deploy deposit disperse display dismiss distribute donate dominate educate
employ enforce ensure enjoy evacuate excrete exhale expect expel feature filter finish fulfil graduate
hunt ignite imagine imply incorporate incubate infect inform inhale injure insist inspire install
introduce invade investigate kill listen marry melt mention mimic navigate neutralize nourish open
oxidize participate penetrate persuade polymerize postpone pray precede predict prepare propel propose
prove pursue recover recycle reduce refer reject release remain remember renovate replace restore retain
retire retreat secrete seize simulate solidify stretch swallow symbolize tolerate translate transport
trap unify utilize visit warm withstand begin become eat feed find get give go grow hear hide hold keep
know lay leave lie lose make meet mean say see seek sell send shed shine sing sink sit sleep speak spend
stand steal swim take teach tell think throw understand wear win write bring build buy catch draw drive
fall fight fly forget lead lend arise bear bend bite bleed blow come deal dig eject fit flee forgive
freeze hang ride rise run shake shrink slide spin split spread stick strike sweep swing tear wake weave
withdraw overcome hurt let read spring
"""

# Nouns as well, but usually verbs where a noun stands before them.
VERBISH = """
form produce remain hunt hatch display trap release travel transport visit deposit capture feature filter
kill need use cause live work move help change start show turn look call cover gain reach pull push store
supply support offer increase decrease play cool warm hold fall run stand lead lay bear feed melt bite
blow ride fly lie rise sleep smell taste touch stop talk walk wash climb hope report claim estimate fear
wish test trade transfer return result rest pump orbit attack attempt burn cross damage die drink drop
float flow harm like love lack leave rely act answer ask charge check finish open order pass pick place
plan raise receive require respond last control mean say want compare benefit flower bloom break bounce
dry signal bark stretch retreat
"""

# Usually nouns or adjectives: never taken for a verb without proof, but reason to doubt.
NOUNISH = """
plant water light wave rock land shape color sound range rain snow farm dust ship name point part number
state study train fish heat cut age force fire head house hand measure mine note notice process project
record respect review risk rule sail shelter shoot sign sort space spot star step storm stress strip
surface swell switch track trail trade type view voice volume vote want waste watch wind wonder doubt
guess dream limit value balance book bridge camp center coat combat concern contact copy cost cook design
drain end experience exercise face favor field film fix focus fuel function fund grant group guard guide
host impact influence interest issue judge lift link list load lock match matter mix model object own
pack paint park pattern phase photograph picture pilot pollute power practice present press price print
profit program protest purchase question quarry
"""

EMBED = words(
    """
    know think believe say claim argue state show prove mean suggest find see hear feel notice realize
    hope wish guess assume expect fear discover learn remember forget decide ensure explain imply
    indicate report announce reveal predict conclude demonstrate confirm understand imagine insist
    note observe estimate tell ask wonder warn watch let make help require propose doubt dream
    consider convince inform persuade want
    """
)

DOUBLED = words(
    """
    stop plan drop emit permit occur prefer refer transfer transmit repel compel expel propel ship
    trap control strip fit step
    """
)

# Past and participle where they are not base + ed.
IRREGULAR = """
arise arose arisen|dwell dwelt dwelt|bear bore borne|become became become|begin began begun
bend bent bent|bite bit bitten|bleed bled bled|blow blew blown|break broke broken|bring brought brought
build built built|buy bought bought|catch caught caught|choose chose chosen|come came come|cost cost cost
cut cut cut|deal dealt dealt|dig dug dug|draw drew drawn|drink drank drunk|drive drove driven
eat ate eaten|fall fell fallen|feed fed fed|feel felt felt|fight fought fought|find found found
flee fled fled|fly flew flown|forget forgot forgotten|forgive forgave forgiven|freeze froze frozen
get got gotten|give gave given|go went gone|grow grew grown|hang hung hung|hear heard heard
hide hid hidden|hold held held|hit hit hit|hurt hurt hurt|keep kept kept|know knew known|lay laid laid|lead led led
leave left left|lend lent lent|let let let|lie lay lain|light lit lit|lose lost lost|make made made
mean meant meant|meet met met|overcome overcame overcome|read read read|ride rode ridden|rise rose risen
run ran run|say said said|see saw seen|seek sought sought|sell sold sold|send sent sent
shake shook shaken|shed shed shed|shine shone shone|shoot shot shot|shrink shrank shrunk|sing sang sung
sink sank sunk|sit sat sat|sleep slept slept|slide slid slid|speak spoke spoken|spend spent spent
spin spun spun|split split split|spread spread spread|spring sprang sprung|stand stood stood
steal stole stolen|stick stuck stuck|strike struck struck|sweep swept swept|swim swam swum
swing swung swung|take took taken|teach taught taught|tear tore torn|tell told told|think thought thought
throw threw thrown|undergo underwent undergone|understand understood understood|wake woke woken
wear wore worn|weave wove woven|win won won|wind wound wound|withdraw withdrew withdrawn
withstand withstood withstood|write wrote written
"""
