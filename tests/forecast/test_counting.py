"""What a run would ask: distinct questions per test and in all, less what is answered."""

from __future__ import annotations

from asked_case import case

from contrapose.tasks.core.questions import Question
from contrapose.tasks.core.records import Case, Completion
from contrapose.tasks.forecast.counting import CallCount, CallCounter
from contrapose.tasks.infer.ask import Answers

YES, NO = Question(kind="generate", prompt="It is."), Question(kind="generate", prompt="It is not.")


def counted(*tests: list[list[Case]], answers: Answers | None = None) -> CallCounter:
    known = answers or {}
    counter = CallCounter(look_up=lambda questions: {each: known[each] for each in questions if each in known})
    for number, portions in enumerate(tests):
        counter.add(f"test{number}", portions, asks_back_instead=False)
    return counter


def test_a_case_asks_both_prompts() -> None:
    assert counted([[case()]]).total == CallCount(questions=2, replies=2, characters=len("It is.") + len("It is not."))


def test_equal_prompts_count_once_even_in_different_portions() -> None:
    assert counted([[case("one"), case("two")], [case("three")]]).total.calls == 2


def test_a_prompt_that_two_tests_share_counts_in_each_and_once_in_all() -> None:
    counter = counted([[case()]], [[case(perturbed_prompt="It never is.")]])
    assert [count.calls for count in counter.tests.values()] == [2, 2]
    assert counter.total.calls == 3


def test_skipped_cases_ask_nothing() -> None:
    skipped = case(perturbed=None, perturbed_prompt=None, skip_reason="negated already")
    assert counted([[skipped]]).total == CallCount()


def test_what_is_answered_is_not_asked_again() -> None:
    count = counted([[case()]], answers={YES: Completion(text="Indeed.")}).total
    assert (count.questions, count.answered, count.calls) == (2, 1, 1)
    assert count.characters == len("It is not.")


def test_a_choice_is_no_reply() -> None:
    count = counted([[case(asks="choose", labels=("A", "B"))]]).total
    assert (count.replies, count.choices) == (0, 2)


def test_losses_of_prompts_are_asked_for_too() -> None:
    count = counted([[case(loss_of="prompt")]]).total
    assert (count.calls, count.replies) == (4, 2)


def test_losses_of_replies_are_counted_before_the_replies_are_known() -> None:
    assert counted([[case(loss_of="expected_result")]]).total.calls == 4


def test_losses_of_known_replies_are_looked_up() -> None:
    replies = {YES: Completion(text="Indeed."), NO: Completion(text="No.")}
    losses = {Question(kind="loss", prompt=each.prompt, text="Indeed."): Completion(loss=1.0) for each in (YES, NO)}
    cases = [[case(loss_of="expected_result")]]
    assert counted(cases, answers=replies).total.calls == 2
    assert counted(cases, answers=replies | losses).total.calls == 0


def test_what_may_be_asked_back_is_bounded_by_the_distinct_replies_that_choose_among_options() -> None:
    options = {"labels": ("A", "B"), "options": ("x", "y")}
    first = [case("one", **options), case("two", perturbed_prompt="Is it?", **options), case("three")]
    counter = CallCounter(look_up=lambda questions: {})
    counter.add("asks", [first], asks_back=True)
    counter.add("too", [[case("one", **options)]], asks_back=True)
    counter.add("never", [[case("four", **options)]])
    counter.add("likelihood", [[case("five", asks="choose", **options)]], asks_back=True)
    made_up = {"asks": 2, "too": 1}
    assert counter.asked_back.tests == {"asks": 3 + made_up["asks"], "too": 2 + made_up["too"]}
    assert counter.asked_back.total.calls == 3 + sum(made_up.values())
    assert counter.tests["asks"].calls == 3


LETTERS = {"asks": "choose", "labels": ("A", "B"), "options": ("x", "y")}


def chosen(mass: float) -> Answers:
    return {
        Question(kind="choose", prompt=prompt, labels=("A", "B")): Completion(
            text="A", option_loglikelihoods=(-9.0, -9.5), label_mass=mass
        )
        for prompt in ("It is.", "It is not.")
    }


def test_replies_that_may_be_read_instead_of_likelihoods_are_bounded_by_the_distinct_prompts() -> None:
    counter = counted([[case(**LETTERS), case("two", perturbed_prompt="Is it?", **LETTERS)]], [[case(**LETTERS)]])
    assert counter.instead.tests == {"test0": 3, "test1": 2}
    assert (counter.instead.total.calls, counter.instead.total.replies) == (3, 3)
    assert counter.total.replies == 0


def test_who_may_be_asked_about_them_too_is_asked_twice_as_much() -> None:
    counter = CallCounter(look_up=lambda questions: {}, longest_reply=100)
    counter.add("test", [[case(**LETTERS)]], asks_back_instead=True)
    made_up = 1
    assert counter.instead.tests == {"test": 4 + made_up}
    assert counter.instead.total.characters > 2 * 100


def test_likelihoods_that_are_known_to_decide_need_no_reply() -> None:
    counter = counted([[case(**LETTERS)]], answers=chosen(0.9))
    assert (counter.total.calls, counter.instead.tests) == (0, {})


def test_replies_in_place_of_likelihoods_that_are_known_to_decide_nothing_are_certain() -> None:
    counter = counted([[case(**LETTERS)]], answers=chosen(1e-7))
    assert (counter.total.calls, counter.total.replies, counter.instead.tests) == (2, 2, {})
    replies = {question: Completion(text="A") for question in (YES, NO)}
    assert counted([[case(**LETTERS)]], answers={**chosen(1e-7), **replies}).total.calls == 0


def test_a_reply_that_is_there_already_is_not_asked_for_instead() -> None:
    counter = counted([[case(also_in_words=True, **LETTERS)]])
    assert (counter.total.calls, counter.instead.tests) == (3, {"test0": 1})
    assert counted([[case(**LETTERS)]], answers={YES: Completion(text="A")}).instead.tests == {"test0": 1}
