"""Translate words for choosing, denying and doubting from other languages, so that the English rules can read them."""

from __future__ import annotations

import re

from contrapose.tasks.language.expression import expression

_CJK = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_FOREIGN = expression(
    r"(?i)\b(?:antwort\w*|nicht|kein\w*|sondern|richtig\w*|falsch\w*|daher|besser|schlechter|gewinnt|bevorzuge"
    r"|scheide[nt]|bleibt|stimmt|lösung"
    r"|weder|entweder|könnte|vielleicht|respuesta|opci[óo]n|elijo|escojo|queda|descarto|prefiero|mejor|correct[ao]"
    r"|entonces|creo|pienso|ser[íi]a"
    r"|podr[íi]a|quiz[áa]s?|r[ée]ponse|c'est|retiens|pr[ée]f[èe]re|meilleure?|emporte|donc|n'est|choisis|serait"
    r"|pourrait|peut-[êe]tre|bonne"
    r"|risposta|opzione|è|quindi|scelgo|giusta|potrebbe|forse|sarebbe|resposta|op[çc][ãa]o|alternativa|escolho|é"
    r"|n[ãa]o|portanto|talvez|poderia"
    r"|antwoord|niet|svaret|odpowied[źz]|odpověď|vastaus|cevap)\b"
    rf"|[{_CJK}\u0400-\u04ff]"
)
"""Words that are no English: a text without any of them is left as it is, unless it holds two of the next ones."""
_MAYBE_FOREIGN = expression(
    r"(?i)\b(?:ist|ich|und|der|das|urteil|el|la|los|las|una?|del|gana|les?|des|je|est|il|per|che|o|uma|os|inte"
    r"|ni)\b"
)

_GLOSSARY = r"""
preference to: (?:ma |mi |meine |la mia )?(?:pr[ée]f[ée]rence|preferencia|präferenz|preferenza|preferência)
preference to: preference to(?: va)? (?:à|a|für|por|al?la)
is not: ist nicht|wäre nicht|sind nicht|no es|no ser[íi]a|n'est pas|ne serait pas|non è|non sarebbe|n[ãa]o é
is not: n[ãa]o seria|is niet|är inte|не является|не
does not: ne .{1,20} pas(?= )
than: als|que(?= \(?[A-Z]\b)|di(?= \(?[A-Z]\b)|чем
not: auch nicht|tampoco|non plus|nemmeno|neppure|nicht|keinesfalls|keineswegs|kein(?:e|er|es)?|pas|non|n[ãa]o|niet
not: inte
neither: weder|ni l'une|ninguna?|aucune?|nessuna|nenhuma|keine davon|ни
nor: noch|ni
but: sondern|aber|sino|pero|mais(?: bien| plut[ôo]t)?|bensì|bens[íi]|ma|mas(?: sim)?|senão|maar|а
answer: antwort(?:möglichkeit)?|lösung|respuesta|r[ée]ponse|risposta|resposta|antwoord|svar(?:et)?|vastaus
answer: odpowied[źz]|odpověď|cevap|ответ|soluci[óo]n|soluzione|solução
option: opci[óo]n|opzione|op[çc][ãa]o|alternativa|variante?|вариант|möglichkeit|auswahl|elecci[óo]n|choix|scelta
option: escolha|buchstabe|letra|lettre|lettera|буква|inciso|la lettre
summary: zusammenfassung|resumen|r[ée]sum[ée]|riassunto|resumo
is: ist|lautet|wäre|es|est|serait|ser[íi]a|è|sarebbe|é|seria|este|är|er|sería
it is: c'est|es ist|ce serait|to jest|это
I choose: je retiens|ich bleibe bei|(?:ich )?(?:wähle|nehme|tippe auf|entscheide mich für)
I choose: (?:me quedo con|(?:yo )?(?:elijo|escojo|elegir[íi]a|escoger[íi]a|digo|dir[íi]a))
I choose: je (?:choisis|choisirais|dirais|prends|opte pour|pense que c'est)|scelgo|sceglierei|direi|escolho
I choose: eu escolheria|marco|(?:я )?выбираю|ik kies|jag väljer
I think: ich (?:denke|glaube|meine)|creo|pienso|je (?:pense|crois)|credo|penso|acho|я думаю
correct: richtig(?:e|en|er)?|korrekt(?:e|en)?|zutreffend(?:e)?|correct[ao]s?|correcte?s?|bonnes?|juste|corrett[ao]
correct: giust[ao]|corret[ao]|cert[ao]|exacta|правильн\w+|верн\w+
I prefer: ich bevorzuge|(?:yo )?prefiero|je pr[ée]f[èe]re|preferisco|prefiro|我(?:更)?喜欢
wins: gewinnt|gana|l'emporte|gagne|vince|ganha|vence
remains: bleibt|queda|reste|rimane|resta|остаётся
out: scheide(?:t|n) aus|ausgeschieden|descartad[oa]s?|éliminées?|exclues?
I rule out: descarto|j'élimine|j'écarte|escludo|ich schließe
only leaves: (?:il )?ne reste (?:plus )?que|no queda (?:más )?que|es bleibt(?: nur)?|non resta che
verdict: urteil|fazit|veredicto?|verdetto|veredito|结论|вывод
assistant: assistent|asistente|assistente
better: besser|mejor|meilleure?|migliore|melhor|лучше|beter|bättre
best: beste[rn]?|la mejor|la meilleure|лучший
wrong: falsch(?:e|er)?|unrichtig|incorrect[ao]s?|incorrecte?s?|fausses?|faux|mauvaise|sbagliat[ao]|errat[ao]
wrong: errad[ao]|incorret[ao]|неверн\w+|неправильн\w+|fals[ao]s?|ausgeschlossen|descartada|exclue|éliminée
wrong: schlechter|peor|pire
therefore: daher|deshalb|somit|folglich|also doch
therefore: also(?=,? \(?[A-Z]\b)|demnach|damit|entonces|por lo tanto|por tanto|por eso
therefore: as[íi] que|luego|donc|ainsi|par cons[ée]quent|quindi|dunque|pertanto|perci[òo]
therefore: portanto|logo|assim|поэтому|следовательно|значит|итак|dus|alltså
because: weil|denn|da|porque|ya que|pues|puesto que|car|parce que|puisque|perch[ée]|poich[ée]|pois|porque|потому что
because: так как
maybe: vielleicht|möglicherweise|eventuell|womöglich|quiz[áa]s?|tal vez|a lo mejor|posiblemente|peut-[êe]tre
maybe: éventuellement|forse|magari|talvez|возможно|может быть|misschien
could be: könnte(?:n)?(?: auch)?|kann|podr[íi]a(?:n)?(?: ser)?|puede(?:n)?(?: ser)?|pourrait(?: [êe]tre)?
could be: peut(?: [êe]tre)?|potrebbe(?: essere)?|può(?: essere)?|poderia(?: ser)?|pode(?: ser)?|может
or: oder|ou|oppure|o(?= [A-Z(])|или|ó|eller
either: entweder|o bien|soit
and: und|y|e(?= [A-Z(])|et|и
if: wenn|falls|si|se|если
both: beide|ambas?|les deux|entrambe|ambas as|обе
only: nur|s[óo]lo|solamente|seulement|solo|soltanto|apenas|somente|только
instead of: statt|anstatt|en lugar de|en vez de|au lieu de|invece di|em vez de|вместо
I do not know: (?:ich )?weiß (?:es )?nicht|no (?:lo )?s[ée]|je ne sais pas|non (?:lo )?so|n[ãa]o sei|не знаю
I do not know: no estoy segur[oa]|ich bin (?:mir )?(?:nicht|un) ?sicher
first: zuerst|zunächst|primero|d'abord|al principio|au d[ée]but|all'inizio|сначала
"""
"""English, and expressions of the words of other languages for it, in the order in which they are put."""
_CHINESE = (
    (rf"(?<=[{_CJK}，。：、])(?=[A-Za-z(])|(?<=[A-Za-z)])(?=[{_CJK}])", " "),
    (
        r"(?:而)?(?:并)?(?:不是|不选|不選|不应该?选|不会选|不能选|不应|排除了?|非)"
        r"\s?(?:选项|選項|答案)?(?=\W{0,3}[A-Za-z])",
        " not ",
    ),
    (
        r"(?<=[A-Za-z)] )(?:选项|項|项)?(?:都|也|是|则|显然|可能)?(?:不对|不正确|不是|错(?:误|的)?|有误|不符合?"
        r"|可以?排除|被排除|不行"
        r"|ではな[くい]|は違|は誤|は間違|이 아니|는 아니|가 아니)[\u3040-\u9fff]*",
        "is wrong ",
    ),
    (r"(?:可能|也许|或许|大概|好像|似乎|应该可能|かもしれ\w*|たぶん|아마)", " maybe "),
    (r"(?:还是|或者?|または|それとも|또는)", " or "),
    (r"(?:如果|要是|若|もし|만약)", " if "),
    (
        r"(?:不确定|不知道|无法(?:确定|判断|回答|选择)|没有(?:正确)?答案|分かりません|わかりません|모르)",
        " I do not know ",
    ),
    (r"(?:都|两者|兩者|どちらも|둘 다)", " both "),
    (
        r"(?:答案|回答|答え|正解|정답|답변|답|选择|最佳选项|正确选项)(?:应该?是|应为|是|为|為|就是|は|은|는|:|：)?\s?:?\s?(?=\W{0,3}(?:选项)?\s?[A-Za-z])",
        " answer: ",
    ),
    (
        r"(?:而是|应该?选|應選|故选|故選|所以选|因此选|综上[,，]?选|我选择?|我會選|[选選](?:择|擇)?|就是)\s?(?:选项|項|项)?\s?(?=\W{0,3}[A-Za-z])",
        " I choose ",
    ),
    (r"(?:选项|選項|選択肢)\s?", " option "),
    (
        r"(?<=[A-Za-z)] )(?:选项|項|项)?(?:才|就)?(?:是|为|が|は)?(?:正确的?|对的?|正解|正しい|答案"
        r"|更好|最好|最佳|맞)[\u3040-\u9fff\uac00-\ud7af]*",
        "is correct ",
    ),
    (r"(?:所以|因此|故|综上|综上所述|因而|よって|したがって|따라서)[,，]?", " therefore "),
    (r"(?:因为|由于|なぜなら|왜냐하면)", " because "),
    (r"(?<=[A-Za-z)] )(?:です|だ|でした|である|입니다|이다|예요)(?=$|\W)", " "),
)
_WORDS = tuple(
    (expression(rf"(?i)(?<![\w'])(?:{words})(?![\w'])"), english)
    for english, words in (line.split(": ", 1) for line in _GLOSSARY.strip().splitlines())
)
_COMMA_IS = expression(r"(?i),\s(?:es|è|é|est|ist)\s(?=(?:la |el |die |a |o |le )?(?:\w+ )?\(?[A-Z]\b)")
_ARTICLE = expression(
    r"(?i)(?<![\w'])(?:la|le|el|die|der|das|a|o|il|het|de|den|l')\s?(?=(?-i:[(*_\[\"'\u00ab]{0,3}[A-Z](?![\w']))"
    r"|(?:option|answer|summary|correct)\b)"
)


def translate_choice_words(text: str) -> str:
    """Return a reply with its foreign words for choosing, denying and doubting replaced by English ones."""
    if _FOREIGN.search(text) is None and len({word.lower() for word in _MAYBE_FOREIGN.findall(text)}) < 2:
        return text
    for pattern, english in _CHINESE if re.search(rf"[{_CJK}]", text) else ():
        text = re.sub(pattern, english, text)
    text = _COMMA_IS.sub(", it is ", text)
    for words, english in _WORDS:
        text = words.sub(english, text)
    return _ARTICLE.sub("", text)
