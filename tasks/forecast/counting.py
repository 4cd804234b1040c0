"""How much a run would ask, counted from its cases; nothing is asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from contrapose.tasks.core.questions import Form, Question
from contrapose.tasks.core.records import Case
from contrapose.tasks.infer.ask import Answers, asked, besides, losses
from contrapose.tasks.probes import asking_back

LookUp = Callable[[Sequence[Question]], Answers]


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """Distinct questions, and what those without an answer give to read and ask to write."""

    questions: int = 0
    """Distinct ones."""
    answered: int = 0
    """Those whose answer is in the response store."""
    characters: int = 0
    """Of the prompts to ask."""
    replies: int = 0
    """Questions to ask that are answered by a text."""
    choices: int = 0
    """Questions to ask that are answered by one label."""

    @property
    def calls(self) -> int:
        """Questions to ask; every one is a request."""
        return self.questions - self.answered

    def __add__(self, other: Count) -> Count:
        return Count(
            questions=self.questions + other.questions,
            answered=self.answered + other.answered,
            characters=self.characters + other.characters,
            replies=self.replies + other.replies,
            choices=self.choices + other.choices,
        )


@dataclass(slots=True)
class Counter:
    """Counts what cases ask, test by test; a question that two tests share is counted once in all."""

    look_up: LookUp
    """The answers that are there."""
    form: Form = "plain"
    """In which letters are asked for."""
    tests: dict[str, Count] = field(default_factory=dict)
    """Count of each test."""
    total: Count = field(default_factory=Count)
    """Of all tests together."""
    longest_reply: int = 0
    """Characters of a reply, at most: the longer it is, the longer is a question about it."""
    asked_back: dict[str, int] = field(default_factory=dict)
    """Of each test that asks back: most calls about replies that cannot be read, on top of its count."""
    _seen: set[int] = field(default_factory=set)
    _replies: dict[int, int] = field(default_factory=dict)

    def add(self, test: str, portions: Iterable[Sequence[Case]], *, asks_back: bool = False) -> list[Count]:
        """Count the cases of one test, a portion at a time, with the replies that it may ask about if it asks back.

        Returns:
            What the test asks up to the end of each portion, beginning with nothing.
        """
        own: set[int] = set()
        replies: dict[int, int] = {}
        counts = [Count()]
        for portion in portions:
            cases = [case for case in portion if case.skip_reason is None]
            count = counts[-1]
            if asks_back:
                replies |= _replies(cases, longest=self.longest_reply)
            for question, known in self._questions(cases):
                # Hashes, for a million questions: their texts need not stay.
                if (name := hash(question)) not in own:
                    own.add(name)
                    one = _one(question, known=known)
                    count += one
                    self.total += Count() if name in self._seen else one
            counts.append(count)
        self._seen |= own
        self.tests[test] = counts[-1]
        if replies:
            self.asked_back[test] = len(replies)
            self._replies |= replies
        return counts

    @property
    def asked_back_in_all(self) -> Count:
        """The most that is asked about replies that cannot be read; one that two tests share is asked about once."""
        calls = len(self._replies)
        return Count(questions=calls, characters=sum(self._replies.values()), replies=calls)

    def _questions(self, cases: Sequence[Case]) -> Iterator[tuple[Question, bool]]:
        """The questions of a portion, and whether each is answered."""
        first = asked(cases, form=self.form)
        replies = self.look_up(first)
        yield from ((question, question in replies) for question in first)
        for later in (losses(cases, replies), besides(cases, form=self.form)):
            answers = self.look_up(later) if later else {}
            yield from ((question, question in answers) for question in later)
        yield from ((question, False) for question in _later_still(cases, replies))


def _later_still(cases: Sequence[Case], replies: Answers) -> Iterator[Question]:
    """Stand-ins for losses of replies that nobody knows yet."""
    for case in cases:
        pair = asked([case]) if case.loss_of == "expected_result" else []
        if not all(question in replies for question in pair):
            yield from (Question(kind="loss", prompt=question.prompt, repeat=question.repeat) for question in pair)


def _replies(cases: Iterable[Case], *, longest: int) -> dict[int, int]:
    """The distinct replies in words that choose among options, by the hash of their question.

    For each the most characters that it takes to ask about it, where no reply has more than `longest`.
    """
    quoted = min(longest, asking_back.QUOTED_FIRST + asking_back.QUOTED_LAST)
    return {
        hash(question): len(asking_back.question("", case.options)) + quoted
        for case in cases
        if case.options and case.asks == "generate"
        for question in asked([case])
    }


def _one(question: Question, *, known: bool) -> Count:
    if known:
        return Count(questions=1, answered=1)
    return Count(
        questions=1,
        characters=len(question.prompt) + len(question.text),
        replies=question.kind == "generate",
        choices=question.kind == "choose",
    )
