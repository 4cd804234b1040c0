"""Count the calls that a run would make, from its cases; no model is called."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from contrapose.tasks.core.questions import Form, Question
from contrapose.tasks.core.records import Case
from contrapose.tasks.infer.ask import Answers, list_extras, list_fallbacks, list_losses, list_questions, resolve_case
from contrapose.tasks.probes import reader_questions
from contrapose.tasks.probes.reader_questions import CHECKS, MOST_CHARACTERS, count_made_up

LookUp = Callable[[Sequence[Question]], Answers]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallCount:
    """Number of questions, and the text lengths of those not answered yet."""

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
        """Number of calls: questions without a stored answer."""
        return self.questions - self.answered

    def __add__(self, other: CallCount) -> CallCount:
        return CallCount(**{name: getattr(self, name) + getattr(other, name) for name in self.__dataclass_fields__})


@dataclass(slots=True)
class UpperBound:
    """Upper bound of additional calls, such as those to the reader model."""

    tests: dict[str, int] = field(default_factory=dict)
    """Of each test that may make some."""
    _distinct: dict[int, CallCount] = field(default_factory=dict)

    def add(self, test: str, counts: Mapping[int, CallCount]) -> None:
        """Note the calls of one test, by the hashes of what they are about."""
        if calls := sum(count.calls for count in counts.values()):
            self.tests[test] = calls
            self._distinct |= counts

    @property
    def total(self) -> CallCount:
        """Count of all tests together; a call that two tests share is counted once."""
        return sum(self._distinct.values(), CallCount())


@dataclass(slots=True)
class CallCounter:
    """Counts the calls of cases, test by test; a question that two tests share counts once."""

    look_up: LookUp
    """The answers that are there."""
    form: Form = "plain"
    """In which letters are asked for."""
    tests: dict[str, CallCount] = field(default_factory=dict)
    """Count of each test."""
    total: CallCount = field(default_factory=CallCount)
    """Of all tests together."""
    longest_reply: int = 0
    """Characters of a reply, at most: the longer it is, the longer is a question about it."""
    asked_back: UpperBound = field(default_factory=UpperBound)
    """Calls about replies that cannot be read."""
    instead: UpperBound = field(default_factory=UpperBound)
    """Replies that are read where likelihoods turn out to decide nothing, and calls about these."""
    _seen: set[int] = field(default_factory=set)

    def add(
        self,
        test: str,
        portions: Iterable[Sequence[Case]],
        *,
        asks_back: bool = False,
        asks_back_instead: bool | None = None,
    ) -> list[CallCount]:
        """Count the cases of one test; return the cumulative count before the first and after each portion.

        `asks_back`: the model is asked about replies that cannot be read; `asks_back_instead`: about those that may be
        read in place of likelihoods, too, which are not counted where it is None.
        """
        own: set[int] = set()
        about: dict[int, CallCount] = {}
        replies: dict[int, CallCount] = {}
        samples: set[str] = set()
        counts = [CallCount()]
        for portion in portions:
            cases = [case for case in portion if case.skip_reason is None]
            first = list_questions(cases, form=self.form)
            answers, count = self.look_up(first), counts[-1]
            if len(samples) < count_made_up(CHECKS):
                samples.update(case.sample_id for case in cases if case.options)
            if asks_back:
                about |= self._count_reader_questions(cases)
            for question, known in self._questions(cases, first, answers):
                # Hashes, for a million questions: their texts need not stay.
                if (name := hash(question)) not in own:
                    own.add(name)
                    one = CallCount(questions=1, answered=1) if known else _count_call(question)
                    count += one
                    self.total += CallCount() if name in self._seen else one
            if asks_back_instead is not None:
                # Likelihoods may turn out not to decide these cases: they are then asked for a reply.
                undecided = [
                    replace(case, asks="generate")
                    for case in cases
                    if case.asks == "choose" and not all(question in answers for question in list_questions([case]))
                ]
                questions = list_questions(undecided)
                present = self._look_up(questions)
                replies |= {hash(question): _count_call(question) for question in questions if question not in present}
                replies |= self._count_reader_questions(undecided) if asks_back_instead else {}
            counts.append(count)
        self._seen |= own
        self.tests[test] = counts[-1]
        checks = min(count_made_up(CHECKS), len(samples))
        self.asked_back.add(test, about | _count_checks(test, checks, about))
        further = {name: count for name, count in replies.items() if name not in own}
        self.instead.add(test, further | _count_checks(test, checks if asks_back_instead else 0, further))
        return counts

    def _questions(
        self, cases: Sequence[Case], first: Sequence[Question], answers: Answers
    ) -> Iterator[tuple[Question, bool]]:
        """Yield the questions of a portion, those that need no other answer first, and whether each is answered."""
        yield from ((question, question in answers) for question in first)
        read = list_fallbacks(cases, answers)
        known = {**answers, **self._look_up(read)}
        yield from ((question, question in known) for question in read)
        for later in (list_losses(cases, known), list_extras(cases, known, form=self.form)):
            known_later = self._look_up(later)
            yield from ((question, question in known_later) for question in later)
        for case in cases:
            # Stand-ins for losses of replies that nobody knows yet.
            pair = list_questions([resolve_case(case, known)]) if case.loss_of == "expected_result" else []
            if not all(question in known for question in pair):
                for question in pair:
                    yield Question(kind="loss", prompt=question.prompt, repeat=question.repeat), False

    def _look_up(self, questions: Sequence[Question]) -> Answers:
        return self.look_up(questions) if questions else {}

    def _count_reader_questions(self, cases: Iterable[Case]) -> dict[int, CallCount]:
        """Count the questions about distinct replies that choose among options, each as long as it may be."""
        quoted = min(self.longest_reply, reader_questions.QUOTED_FIRST + reader_questions.QUOTED_LAST)
        return {
            hash(("about", question)): CallCount(
                questions=1, characters=len(reader_questions.write_question("", case.options)) + quoted, replies=1
            )
            for case in cases
            if case.options and case.asks == "generate"
            for question in list_questions([case])
        }


def _count_checks(test: str, most: int, about: Mapping[int, CallCount]) -> dict[int, CallCount]:
    """Count the calls about made-up replies that check the reader model; none if it is asked about no other reply."""
    longest = max((count.characters for count in about.values()), default=0) + MOST_CHARACTERS
    one = CallCount(questions=1, characters=longest, replies=1)
    return {hash(("made up", test, number)): one for number in range(most if about else 0)}


def _count_call(question: Question) -> CallCount:
    """Count one question without an answer."""
    return CallCount(
        questions=1,
        characters=len(question.prompt) + len(question.text),
        replies=question.kind == "generate",
        choices=question.kind == "choose",
    )
