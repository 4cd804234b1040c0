"""`contrapose estimate`: what a run will ask, take and cost, and what its verdicts could decide."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import chain, groupby
from typing import NamedTuple

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from contrapose.flows.cli.arguments import Verb, add_config, config_of
from contrapose.flows.cli.decidable import (
    Decidable,
    Early,
    decidable,
    dollars,
    early_as_plain,
    early_notes,
    early_table,
    power_as_plain,
    power_notes,
    power_table,
)
from contrapose.flows.cli.preview import Preview, left_out, previews
from contrapose.flows.cli.terminal import print_lines
from contrapose.flows.reader import idle_reader
from contrapose.tasks.config.prices import Price
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core.errors import ModelError
from contrapose.tasks.core.questions import Form, Question
from contrapose.tasks.core.records import LEAST_LABEL_MASS, Case, Likelihoods
from contrapose.tasks.core.registry import find
from contrapose.tasks.forecast.counting import AtMost, Count, Counter, LookUp
from contrapose.tasks.forecast.deciding import Groups, cluster_of, is_judged
from contrapose.tasks.forecast.early import Course
from contrapose.tasks.forecast.forecast import CHARACTERS_PER_TOKEN, Experience, Forecast, experience_of, forecast
from contrapose.tasks.infer.adapting import forms_of, known_changes, known_form, readable
from contrapose.tasks.infer.ask import Answers
from contrapose.tasks.infer.budget import Limits, open_budget, reader_price
from contrapose.tasks.infer.keys import Keys
from contrapose.tasks.infer.looks import LEAST
from contrapose.tasks.text.cleaning import one_line
from contrapose.tasks.text.wording import percent, span

PORTION = 500
"""Cases that are looked up at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Further:
    """Calls that may come on top of what is counted, at most."""

    tests: dict[str, int]
    """Of each test that may make some."""
    total: int
    """Of all tests together."""
    takes: Forecast
    """What they take, if all of them are made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEstimate:
    """A run, told beforehand."""

    model: str
    """Its id."""
    tests: dict[str, Count]
    """What each test asks."""
    total: Count
    """What all ask together."""
    asked_back: Further
    """Calls about replies that cannot be read."""
    reader: str
    """Id of the model that these ask."""
    instead: Further
    """Calls for replies, and about them, where likelihoods turn out to decide nothing."""
    warnings: list[str]
    """What is odd about the configuration."""
    forecast: Forecast
    """What it takes, but for those further calls."""
    limits: Limits
    """What the configuration allows."""
    unreachable: str | None
    """Why answered questions could not be looked up; None when they were."""
    rows: dict[str, str]
    """How many rows of its source each test takes."""
    left_out: list[str]
    """Rows that cannot be used, line by line."""
    skipped: dict[str, str]
    """Why each test skips rows, in words; empty where it skips none."""
    power: Decidable | None
    """What the cases could decide; None where bare pass rates are compared."""
    early: Early | None
    """What is expected of a run that may stop early; None of one that may not."""


def estimate(config: RunConfig) -> RunEstimate:
    """Make the cases, look up what is answered, and tell what the rest would take.

    Raises:
        ContraposeError: a configuration or data source is wrong.
    """
    budget, early = open_budget(config), config.stop == "early"
    tests = [preview.arranged() if early else preview for preview in previews(config)]
    known = _known(config)
    longest = round(config.gen_kwargs.max_new_tokens * CHARACTERS_PER_TOKEN)
    counter = Counter(look_up=known.look_up, form=known.form, longest_reply=longest)
    groups, counts, size = {preview.plan.test: Groups() for preview in tests}, {}, config.runner_args.portion
    for preview in tests:
        test, parts = preview.plan.test, between_looks(preview, size or LEAST) if early else portions(preview)
        counts[test] = counter.add(
            test,
            groups[test].counting(map(known.cases, parts)),
            asks_back=_asks_back(preview, known.likelihoods),
            asks_back_instead=preview.plan.probe_settings.asks_back("none"),
        )
    predict = partial(forecast, spec=config.model_spec(), past=experience_of(config), price=budget.price)
    courses = {test: Course(groups=own, counts=counts[test], size=size) for test, own in groups.items()}
    return RunEstimate(
        model=config.model,
        tests=counter.tests,
        total=counter.total,
        asked_back=_further(counter.asked_back, _reading(config, counter.asked_back.total, price=budget.price)),
        reader=config.reader or config.model,
        instead=_further(
            counter.instead,
            forecast(counter.instead.total, config.model_spec(), past=Experience(), price=budget.price),
        ),
        warnings=idle_reader(config, asked=any(_asks_back(preview, known.likelihoods) for preview in tests)),
        forecast=predict(counter.total),
        limits=budget.limits,
        unreachable=known.unreachable,
        rows={preview.plan.test: preview.taken() for preview in tests},
        left_out=list(left_out(tests, show_toxic=config.show_toxic)),
        skipped={preview.plan.test: preview.skipped() for preview in tests},
        power=decidable(tests, groups) if config.tests.defaults.gate == "interval" else None,
        early=Early.of(tests, courses, cost=lambda count: predict(count).cost.value) if early else None,
    )


def _asks_back(preview: Preview, likelihoods: Likelihoods | None) -> bool:
    return preview.plan.probe_settings.asks_back(likelihoods or preview.likelihoods)


def _reading(config: RunConfig, count: Count, *, price: Price | None) -> Forecast:
    """What asking back takes at most, of the reader at its own price; `price`: of the model under test."""
    reader = config.reader_spec() if count.calls else None
    if reader is None:
        return forecast(count, config.model_spec(), past=Experience(), price=price)
    return forecast(count, reader, past=Experience(), price=reader_price(config))


def _further(calls: AtMost, takes: Forecast) -> Further:
    return Further(tests=calls.tests, total=calls.total.calls, takes=takes)


class Known(NamedTuple):
    """What the response store knows of a model."""

    look_up: LookUp
    """Answers to questions."""
    form: Form = "plain"
    """In which letters are asked for."""
    cases: Callable[[Sequence[Case]], Sequence[Case]] = list
    """Cases as they would be asked."""
    likelihoods: Likelihoods | None = None
    """Which of them the model gives; None: as its settings say."""
    unreachable: str | None = None
    """Why nothing is known."""


def _known(config: RunConfig) -> Known:
    """What is known of the model; nothing, if it cannot be found."""
    spec = config.model_spec()
    try:
        provider = find("providers", spec.known_provider)()
        keys = Keys(spec, provider.identity(spec)).changed(known_changes(provider, spec))
        form = known_form(forms_of(provider, spec), keys)
    except ModelError as error:
        return Known(lambda questions: {}, unreachable=str(error))
    from contrapose.tasks.store import Store

    table = Store().answers

    def look_up(questions: Sequence[Question]) -> Answers:
        named = {} if config.refresh else {keys.of(question): question for question in questions}
        answers = table.find(list(named))
        return {named[key]: answer for key, answer in answers.items() if answer.outcome not in config.ask_again}

    cases = partial(readable, provider=provider, spec=keys.spec)
    return Known(look_up, form, cases, provider.likelihoods(keys.spec))


def portions(preview: Preview) -> Iterator[list[Case]]:
    """The cases of a test, some hundreds at a time."""
    portion: list[Case] = []
    for cases in preview.cases():
        portion += cases
        if len(portion) >= PORTION:
            yield portion
            portion = []
    yield portion


def between_looks(preview: Preview, size: int) -> Iterator[list[Case]]:
    """The cases of a test in whole clusters, with so many judged ones or a few more at a time."""
    portion: list[Case] = []
    for _, samples in groupby(preview.cases(), key=lambda own: cluster_of(own[0])):
        portion += chain.from_iterable(samples)
        if sum(map(is_judged, portion)) >= size:
            yield portion
            portion = []
    yield portion


def as_json(run: RunEstimate) -> str:
    """The same figures as JSON."""
    counts = {test: _counts(count) for test, count in run.tests.items()}
    return json.dumps(
        {
            "model": run.model,
            "tests": counts,
            "total": _counts(run.total),
            "asked_back_at_most": _at_most(run.asked_back, run.reader),
            "read_instead_at_most": _at_most(run.instead, run.model),
            **asdict(run.forecast),
            "limits": asdict(run.limits),
            "stops_at": _stops(run),
            "unreachable": run.unreachable,
            "rows": run.rows,
            "left_out": run.left_out,
            "power": None if run.power is None else power_as_plain(run.power),
            "stop_early": None if run.early is None else early_as_plain(run.early),
        },
        indent=2,
    )


def _at_most(calls: Further, model: str) -> dict[str, object]:
    """Further calls of a model, if all of them are made."""
    return {
        "tests": calls.tests,
        "total": calls.total,
        "model": model,
        "prompt_tokens": calls.takes.prompt_tokens.value,
        "completion_tokens": calls.takes.completion_tokens.most,
        "cost": calls.takes.cost.most,
    }


def _counts(count: Count) -> dict[str, int]:
    return {"prompts": count.questions, "answered": count.answered, "calls": count.calls}


def as_text(run: RunEstimate, *, console: Console) -> Iterator[str]:
    """What would be asked, test by test, what it takes and could decide, for a terminal of 80 columns."""
    with console.capture() as captured:
        console.print(_counted(run))
        console.print()
        console.print(_taken(run.forecast))
        if run.power is not None:
            console.print()
            console.print(power_table(run.power))
        if run.early and run.early.tests:
            console.print()
            console.print(early_table(run.early))
        for note in _notes(run):
            console.print()
            console.print(Text(note))
    yield captured.get()


def _notes(run: RunEstimate) -> Iterator[str]:
    yield f"Rows: {'; '.join(f'{test} {rows}' for test, rows in run.rows.items())}."
    yield from (f"{test} skips rows: {one_line(words)}." for test, words in run.skipped.items() if words)
    if run.left_out:
        yield "\n".join(run.left_out)
    if run.unreachable:
        yield f"Every prompt counts as unanswered: {one_line(run.unreachable)}"
    if run.asked_back.total:
        yield (
            f"Up to {run.asked_back.total:,} further calls, in no figure above: about each reply of "
            f"{', '.join(run.asked_back.tests)} that cannot be read, {one_line(run.reader)} is asked what it "
            f"chooses{_most_cost(run.asked_back)}. Made-up replies that check its reading are among them. "
            "read_with: reply asks nothing."
        )
    if run.instead.total:
        yield (
            f"Up to {run.instead.total:,} further calls, in no figure above: where the letters hold less than "
            f"{percent(LEAST_LABEL_MASS)} of the probability, {', '.join(run.instead.tests)} "
            f"{'reads' if len(run.instead.tests) == 1 else 'read'} replies instead{_most_cost(run.instead)}."
        )
    yield from run.warnings
    for name in _stops(run):
        undecided = ", unless its tests are decided by then" if run.early else ""
        yield f"The run will stop before its end{undecided}: {name} is {getattr(run.limits, name):,}."
    if run.power is not None:
        yield from power_notes(run.power)
    if run.early and run.early.tests:
        yield from early_notes(run.early)


def _most_cost(calls: Further) -> str:
    most = calls.takes.cost.most
    return f", for some {dollars(most)} if all are long" if most else "" if most == 0 else ", at an unknown price"


def _counted(run: RunEstimate) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1), show_edge=False)
    table.add_column("test", overflow="fold", max_width=32)
    for name in ("prompts", "answered", "calls"):
        table.add_column(name, justify="right", no_wrap=True)
    for test, count in run.tests.items():
        table.add_row(Text(test), *(f"{number:,}" for number in _counts(count).values()))
    if len(run.tests) > 1:
        table.add_section()
        table.add_row("in all, shared prompts once", *(f"{number:,}" for number in _counts(run.total).values()))
    return table


def _taken(predicted: Forecast) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    for name, value, because in _figures(predicted):
        table.add_row(name, value, Text(because, style="dim"))
    return table


def _figures(predicted: Forecast) -> Iterator[tuple[str, str, str]]:
    yield "tokens in", f"{predicted.prompt_tokens.value:,.0f}", predicted.prompt_tokens.because
    yield "tokens out", f"{predicted.completion_tokens.value:,.0f}", predicted.completion_tokens.because
    seconds = predicted.seconds.value
    yield "time", "unknown" if seconds is None else span(seconds), predicted.seconds.because
    yield "cost", dollars(predicted.cost.value), predicted.cost.because
    if predicted.cost.most and predicted.cost.most > (predicted.cost.value or 0):
        yield "at most", dollars(predicted.cost.most), "if every reply is as long as max_new_tokens allows"


def _stops(run: RunEstimate) -> list[str]:
    """Limits that the run is expected to meet before its end."""
    taken = {
        "max_calls": run.total.calls,
        "max_tokens": (run.forecast.prompt_tokens.value or 0) + (run.forecast.completion_tokens.value or 0),
        "max_cost": run.forecast.cost.value or 0,
    }
    allowed = asdict(run.limits)
    return [name for name, value in taken.items() if allowed[name] is not None and value > allowed[name]]


def _options(command: argparse.ArgumentParser) -> None:
    """Those of run, so that one word changes the one command into the other."""
    add_config(command)
    command.add_argument("--refresh", action="store_true", help="count what is answered, too")
    command.add_argument("--json", action="store_true", help="print the figures as JSON")
    command.add_argument("--out", help=argparse.SUPPRESS)
    for name in ("--show-toxic", "--exit-zero"):
        command.add_argument(name, action="store_true", help=argparse.SUPPRESS)


def _estimate(arguments: argparse.Namespace) -> int:
    run = estimate(config_of(arguments))
    return print_lines([as_json(run)] if arguments.json else as_text(run, console=Console(highlight=False)))


VERB = Verb(options=_options, act=_estimate, example="estimate --suite suite.yaml --model openai/gpt-4.1-mini")
