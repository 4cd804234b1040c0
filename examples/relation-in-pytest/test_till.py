"""Ask a till about totals: the answer stays when the customer is polite, and changes with the price."""

import re
from pathlib import Path

import contrapose

QUESTIONS = Path(__file__).parent / "questions.csv"


def politely(text: str) -> str:
    return f"Good morning. Would you please tell me: {text}"


def same_total(first: str, second: str) -> bool:
    return re.findall(r"\d+", first) == re.findall(r"\d+", second)


def till(prompt: str) -> str:
    prices = map(int, re.findall(r"\d+", prompt))
    return f"That makes {sum(prices)} cents."


@contrapose.stays(edit=politely, data=QUESTIONS, score=same_total, gate=0.9)
def test_politeness_changes_no_total(prompt: str) -> str:
    return till(prompt)


@contrapose.becomes("dearer_total", before="question", after="dearer_question", data=QUESTIONS, gate=0.9)
def test_a_dearer_apple_changes_the_total(prompt: str) -> str:
    return till(prompt)
