"""Forms in which a judge that is always right may say so: each is a judge of its own."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from asked_prompts import Asked
from planted_judges import PLAIN, Judge, Said

BY_LETTER: Mapping[str, str] = {
    "rejected with which": "{noun} {wrong}, which changes a fact, contradicts the article.",
    "rejected however": "{noun} {wrong}, however, contradicts the article.",
    "rejected on the other hand": "{noun} {wrong}, on the other hand, says something else than the article.",
    "rejected by contrast": "{noun} {wrong}, by contrast, gets a fact wrong.",
    "rejected unlike": "{noun} {wrong}, unlike {noun} {right}, contradicts the article.",
    "as written": "{noun} {right}, as written, matches the article; {noun} {wrong}, however, does not.",
    "right unlike": "{noun} {right}, unlike {noun} {wrong}, is consistent with the article.",
    "answer line first": "Answer: {right}\n\n{noun} {wrong}, which reads well, changes a fact.",
    "therefore": "{noun} {right} keeps to the facts, whereas {noun} {wrong} changes one. "
    "Therefore, {noun} {right} is the correct one.",
    "because": "{right}, because {noun} {wrong} changes a fact.",
    "must be": "{noun} {wrong} is wrong, so it must be {noun} {right}.",
    "since": "Since {noun} {wrong} contradicts the article, the answer is {right}.",
    "bold at the end": "I compared them. {noun} {wrong}, for example, gives another number. "
    "{noun} {right} gives the one in the article.\n\n**{right}**",
    "while": "While {noun} {wrong} reads well, only {noun} {right} is correct.",
    "the one": "The article does not say what {noun} {wrong} says; {noun} {right} is the consistent one.",
    "second thoughts": "At first {noun} {wrong} looks right. On a second reading it is not. The answer is {right}.",
    "not this but that": "Not {wrong}. The answer is {right}.",
    "brackets": "({right}) is correct; ({wrong}) is not.",
    "I choose": "Looking at {noun} {wrong}, which names another place, and at {noun} {right}, which names the "
    "same one, I choose {right}.",
    "final answer first": "**Final answer:** {noun} {right}\n\n"
    "**Reason:** {noun} {wrong}, as it stands, changes a fact.",
    "two sentences": "{noun} {wrong} contradicts the article. {noun} {right} does not.",
    "negative at the end": "{noun} {right} is correct, and not {noun} {wrong}.",
    "it is": "They read alike, but {noun} {wrong}, which was altered, fails. It is {noun} {right}.",
    "answer line last": "{noun} {wrong} alters a number, {noun} {right} does not alter anything.\n\nAnswer: {right}",
}
"""With the letter of the right option, or with that of the wrong one where there are but two."""

BY_TEXT: Mapping[str, str] = {
    "it's": "It's {text}.",
    "it's a": "It's a {text}.",
    "I think it's a": "I think it's a {text}.",
    "the answer is, below": "The answer is:\n\n{letter}. {text}",
    "the best answer is, below": "The best answer is:\n\n{letter}. {text}",
    "for a reason": "{letter}, because that is what the question asks for.",
    "with reasons below": "{letter}. {text}\n\nThe other options do not answer the question.",
    "with reasons beside": "{letter}. {text}. None of the others fits the question.",
    "option with colon": "The correct answer is option {letter}: {text}",
    "answer line": "Answer: {letter}\n\nThe others do not fit.",
    "my answer is": "My answer is {text}.",
    "it is letter": "It is {letter}.",
    "letter in brackets": "({letter}) {text}",
    "bold": "**{letter}. {text}**",
    "option letter": "Option {letter}",
    "letter with bracket": "The right option is {letter}) {text}.",
    "I would choose": "I would choose {text}.",
    "excludes another": "It cannot be {other}. So the answer is {letter}.",
    "excludes another after": "{letter}. {text}. It cannot be {other}.",
    "of these": "Of these options, the right one is {text}.",
    "I choose with text": "After thinking about it, I choose {letter}: {text}.",
    "in quotes": "“{text}”",
    "with a full stop": "{text}.",
    "not that": "The answer is {letter}, not {wrong}.",
    "question mark": "{letter}?",
    "correct option is": "The correct option is {letter}. {text}, since it alone fits.",
}
"""With the text of the right option beside its letter, or in its place."""


def judges(forms: Mapping[str, str], *, options: int) -> dict[str, Judge]:
    """A judge for each form that says, among so many options, which one is right."""
    telling = ("{right}", "{letter}", "{text}")
    return {
        name: partial(speaks, form=form)
        for name, form in forms.items()
        if options == 2 or any(field in form for field in telling)
    }


def speaks(asked: Asked, *, form: str) -> Said:
    """The right option, in this form."""
    if not asked.options:
        return Said(PLAIN)
    chosen = asked.right[0]
    other = (chosen + 1) % len(asked.options)
    letter, wrong = asked.letter(chosen), asked.letter(other)
    fields = {"text": asked.options[chosen], "other": asked.options[other], "letter": letter, "right": letter}
    # A summary ends with a full stop of its own.
    return Said(form.format(noun=asked.noun, wrong=wrong, **fields).replace("..", "."), chosen)
