"""A reply's heading in another language, as English has it."""

from __future__ import annotations

import re

_ANSWER = "|".join(
    (
        r"respuesta|opci[óo]n|r[ée]ponse",
        r"risposta|opzione|resposta|opção",
        r"antwort|antwoord|svar|svaret|vastaus",
        r"odpowied[źz]|odpověď|ответ|cevap",
    )
)
_IS = r"\s?[:=]|\s(?:es|est|ist|è|é|is|är|er)\s(?:(?:la|le|die|das|de|het)\s)?"
_CJK = r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
_REWRITES = (
    (rf"(?i)\b(?:(?:la|le|die|a|o|het|de)\s)?(?:{_ANSWER})(?:\s\w+)?(?:{_IS})", "answer: "),
    (
        r"(?:答案|回答|答え|正解|정답|답변|답|선택)"
        r"(?:应该是|应为|是|为|為|は|은|는)?\s?:?\s?(?=\W{0,3}[A-Za-z])",
        "answer: ",
    ),
    (r"[选選](?:择|擇|項|项)?\s?(?=\W{0,3}[A-Za-z])", "I choose "),
    (r"(?<=[A-Za-z])(?:です|だ|입니다|이다)", ""),
    (rf"(?<={_CJK})(?=[A-Za-z])|(?<=[A-Za-z])(?={_CJK})", " "),
)


def in_english(text: str) -> str:
    """Put "Answer:" for its counterpart in the languages that models most often slip into."""
    for pattern, replacement in _REWRITES:
        text = re.sub(pattern, replacement, text)
    return text
