"""`contrapose estimate`: show how many calls a run needs, their cost, and what its verdicts can decide."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import chain, groupby
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table
from rich.text import Text

from contrapose.flows.cli.arguments import Verb, add_config, load_chosen_config
from contrapose.flows.cli.decidable import DecidableForecast, EarlyForecast, dollars, make_forecast_table
from contrapose.flows.cli.designs import WordingForecast, forecast_wordings
from contrapose.flows.cli.preview import Preview, list_left_out, load_previews
from contrapose.flows.cli.terminal import print_lines
from contrapose.flows.reader import warn_of_idle_reader
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core.errors import ModelError
from contrapose.tasks.core.questions import Form, Question
from contrapose.tasks.core.records import LEAST_LABEL_MASS, Case, Likelihoods
from contrapose.tasks.core.registry import find
from contrapose.tasks.forecast.counting import CallCount, CallCounter, LookUp, UpperBound
from contrapose.tasks.forecast.deciding import CaseGroups, is_judged, name_cluster
from contrapose.tasks.forecast.designs import HALF_WIDTH
from contrapose.tasks.forecast.early import Course
from contrapose.tasks.forecast.forecast import CHARACTERS_PER_TOKEN, Forecast, PastAnswers, forecast, read_past_answers
from contrapose.tasks.infer.adapting import convert_if_no_likelihoods, find_known_changes, find_known_form, list_forms
from contrapose.tasks.infer.ask import Answers
from contrapose.tasks.infer.budget import Limits, find_reader_price, open_budget
from contrapose.tasks.infer.chunks import LEAST
from contrapose.tasks.infer.keys import Keys
from contrapose.tasks.text.cleaning import one_line
from contrapose.tasks.text.masking import mask_values
from contrapose.tasks.text.wording import format_span, percent

PORTION = 500
"""Cases that are looked up at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEstimate:
    """Forecast of a run: calls, cost, time and possible verdicts."""

    config: RunConfig
    """The run."""
    previews: list[Preview]
    """Its tests, with their samples."""
    tests: dict[str, CallCount]
    """What each test asks."""
    total: CallCount
    """What all ask together."""
    forecast: Forecast
    """What it takes, but for further calls."""
    asked_back: tuple[UpperBound, Forecast]
    """Calls about replies that cannot be read, and what they take, if all of them are made."""
    instead: tuple[UpperBound, Forecast]
    """Calls for replies, and about them, where likelihoods turn out to decide nothing, and what they take."""
    warnings: list[str]
    """What is odd about the configuration."""
    limits: Limits
    """What the configuration allows."""
    unreachable: str | None
    """Why answered questions could not be looked up; None when they were."""
    power: DecidableForecast | None
    """What the cases could decide; None where bare pass rates are compared."""
    wordings: dict[str, WordingForecast]
    """What is expected of the tests that ask in several wordings."""
    early: EarlyForecast | None
    """What is expected of a run that may stop early; None of one that may not."""

    def list_exceeded_limits(self) -> list[str]:
        """List the limits that the run would exceed before its end."""
        tokens = (self.forecast.prompt_tokens.value or 0) + (self.forecast.completion_tokens.value or 0)
        needed = {"max_calls": self.total.calls, "max_tokens": tokens, "max_cost": self.forecast.cost.value or 0}
        allowed = asdict(self.limits)
        return [name for name, value in needed.items() if allowed[name] is not None and value > allowed[name]]


def estimate(config: RunConfig, *, half_width: float = HALF_WIDTH) -> RunEstimate:
    """Make the cases, look up stored answers, and forecast calls, cost and time of the rest.

    Args:
        config: the run.
        half_width: length to either side of an interval over wordings, for which the cheapest design is named.

    Raises:
        ContraposeError: a configuration or data source is wrong.
    """
    budget, early = open_budget(config), config.stop == "early"
    spec, size = config.model_spec(), config.runner_args.portion
    tests = [preview.order_fairly() if early else preview for preview in load_previews(config)]
    known = _read_store(config)
    longest = round(config.gen_kwargs.max_new_tokens * CHARACTERS_PER_TOKEN)
    counter = CallCounter(look_up=known.look_up, form=known.form, longest_reply=longest)
    groups, courses, asks_back = dict[str, CaseGroups](), dict[str, Course](), False
    for preview in tests:
        test, settings = preview.plan.test, preview.plan.probe_settings
        own = groups[test] = CaseGroups()
        parts = yield_look_portions(preview, size or LEAST) if early else yield_portions(preview)
        may_ask = settings.asks_back(known.likelihoods or preview.likelihoods)
        counts = counter.add(
            test,
            own.counting(map(known.cases, parts)),
            asks_back=may_ask,
            asks_back_instead=settings.asks_back("none"),
        )
        courses[test], asks_back = Course(groups=own, counts=counts, size=size), asks_back or may_ask
    predict = partial(forecast, spec=spec, past=read_past_answers(config), price=budget.price)
    back, instead = counter.asked_back, counter.instead
    # The reader has a price of its own.
    reader = config.reader_spec() if back.total.calls else None
    price = budget.price if reader is None else find_reader_price(config)
    worded = forecast_wordings(config, tests, wanted=half_width)
    by_interval = config.tests.defaults.gate == "interval"
    return RunEstimate(
        config=config,
        previews=tests,
        tests=counter.tests,
        total=counter.total,
        forecast=predict(counter.total),
        asked_back=(back, forecast(back.total, reader or spec, past=PastAnswers(), price=price)),
        instead=(instead, forecast(instead.total, spec, past=PastAnswers(), price=budget.price)),
        warnings=warn_of_idle_reader(config, asked=asks_back),
        limits=budget.limits,
        unreachable=known.unreachable,
        power=DecidableForecast.compute(tests, groups, wordings=worded) if by_interval else None,
        wordings=worded,
        early=EarlyForecast.simulate(tests, courses, cost=lambda count: predict(count).cost.value) if early else None,
    )


class KnownAnswers(NamedTuple):
    """What the response store holds about a model: answers, and rates measured on earlier calls; by default nothing."""

    look_up: LookUp = lambda questions: {}
    """Answers to questions."""
    form: Form = "plain"
    """In which letters are asked for."""
    cases: Callable[[Sequence[Case]], Sequence[Case]] = list
    """Cases as they would be asked."""
    likelihoods: Likelihoods | None = None
    """Which of them the model gives; None: as its settings say."""
    unreachable: str | None = None
    """Why the model could not be found."""


def _read_store(config: RunConfig) -> KnownAnswers:
    spec = config.model_spec()
    try:
        provider = find("providers", spec.known_provider)()
        keys = Keys(spec, provider.identity(spec)).apply_changes(find_known_changes(provider, spec))
        form = find_known_form(list_forms(provider, spec), keys)
    except ModelError as error:
        return KnownAnswers(unreachable=str(error))
    from contrapose.tasks.store import Store

    table = Store().answers

    def look_up(questions: Sequence[Question]) -> Answers:
        named = {} if config.refresh else {keys.make_key(question): question for question in questions}
        answers = table.find(list(named))
        return {named[key]: answer for key, answer in answers.items() if answer.outcome not in config.ask_again}

    cases = partial(convert_if_no_likelihoods, provider=provider, spec=keys.spec)
    return KnownAnswers(look_up, form, cases, provider.likelihoods(keys.spec))


def yield_portions(preview: Preview) -> Iterator[list[Case]]:
    """Yield the cases of a test in portions of some hundreds."""
    return _gather(preview.cases(), lambda portion: len(portion) >= PORTION)


def yield_look_portions(preview: Preview, size: int) -> Iterator[list[Case]]:
    """Yield the cases of a test in portions of complete clusters with at least so many judged cases."""
    clusters = groupby(preview.cases(), key=lambda own: name_cluster(own[0]))
    groups = (list(chain.from_iterable(samples)) for _, samples in clusters)
    return _gather(groups, lambda portion: sum(map(is_judged, portion)) >= size)


def _gather(groups: Iterable[list[Case]], is_full: Callable[[list[Case]], bool]) -> Iterator[list[Case]]:
    portion: list[Case] = []
    for cases in groups:
        portion += cases
        if is_full(portion):
            yield portion
            portion = []
    yield portion


def format_json(run: RunEstimate) -> str:
    """Format the figures as JSON."""

    def further(calls: UpperBound, needed: Forecast, model: str) -> dict[str, Any]:
        tokens = {"prompt_tokens": needed.prompt_tokens.value, "completion_tokens": needed.completion_tokens.most}
        return {"tests": calls.tests, "total": calls.total.calls, "model": model, **tokens, "cost": needed.cost.most}

    model = run.config.model
    content = {
        "model": model,
        "tests": {test: _count_calls(count) for test, count in run.tests.items()},
        "total": _count_calls(run.total),
        "asked_back_at_most": further(*run.asked_back, run.config.reader or model),
        "read_instead_at_most": further(*run.instead, model),
        **asdict(run.forecast),
        "limits": asdict(run.limits),
        "stops_at": run.list_exceeded_limits(),
        "unreachable": run.unreachable,
        "rows": {preview.plan.test: preview.describe_rows() for preview in run.previews},
        "left_out": list(list_left_out(run.previews, show_toxic=run.config.show_toxic)),
        "power": run.power and run.power.as_plain(),
        "wordings": {test: own.as_plain() for test, own in run.wordings.items()},
        "stop_early": run.early and run.early.as_plain(),
    }
    return json.dumps(mask_values(content, show_toxic=run.config.show_toxic), indent=2)


def _count_calls(count: CallCount) -> dict[str, int]:
    return {"prompts": count.questions, "answered": count.answered, "calls": count.calls}


def format_estimate(run: RunEstimate, *, console: Console) -> Iterator[str]:
    """Format calls and cost of each test, the total, and what the verdicts can decide, for a terminal of 80 columns."""
    counts = make_forecast_table("test", ("prompts", "answered", "calls"), width=32)
    for test, count in run.tests.items():
        counts.add_row(Text(test), *(f"{number:,}" for number in _count_calls(count).values()))
    if len(run.tests) > 1:
        counts.add_section()
        totals = _count_calls(run.total).values()
        counts.add_row("in all, shared prompts once", *(f"{number:,}" for number in totals))
    predicted, seconds = run.forecast, run.forecast.seconds.value
    sent, written, cost = predicted.prompt_tokens, predicted.completion_tokens, predicted.cost
    figures = Table.grid(padding=(0, 2, 0, 0))
    figures.add_row("tokens in", f"{sent.value:,.0f}", Text(sent.because, style="dim"))
    figures.add_row("tokens out", f"{written.value:,.0f}", Text(written.because, style="dim"))
    time = "unknown" if seconds is None else format_span(seconds)
    figures.add_row("time", time, Text(predicted.seconds.because, style="dim"))
    figures.add_row("cost", dollars(cost.value), Text(cost.because, style="dim"))
    if cost.most and cost.most > (cost.value or 0):
        longest = Text("if every reply is as long as max_new_tokens allows", style="dim")
        figures.add_row("at most", dollars(cost.most), longest)
    parts: list[Table | Text] = [counts, figures]
    if run.power:
        parts.append(run.power.table())
    if run.early and run.early.tests:
        parts.append(run.early.table())
    with console.capture() as captured:
        for number, part in enumerate([*parts, *map(Text, _notes(run))]):
            if number:
                console.print()
            console.print(part)
    yield captured.get()


def _notes(run: RunEstimate) -> Iterator[str]:
    yield f"Rows: {'; '.join(f'{preview.plan.test} {preview.describe_rows()}' for preview in run.previews)}."
    for preview in run.previews:
        if words := preview.describe_skips():
            yield f"{preview.plan.test} skips rows: {one_line(words)}."
    if lines := list(list_left_out(run.previews, show_toxic=run.config.show_toxic)):
        yield "\n".join(lines)
    if run.unreachable:
        yield f"Every prompt counts as unanswered: {one_line(run.unreachable)}"

    def most_cost(needed: Forecast) -> str:
        most = needed.cost.most
        return f", for some {dollars(most)} if all are long" if most else "" if most == 0 else ", at an unknown price"

    calls, needed = run.asked_back
    if calls.total.calls:
        yield (
            f"Up to {calls.total.calls:,} further calls are not in the figures above{most_cost(needed)}. For each "
            f"unreadable reply of {', '.join(calls.tests)}, Contrapose asks "
            f"{one_line(run.config.reader or run.config.model)} which option it chooses. Some calls check its reading "
            "with made-up replies. Set read_with: reply to ask none."
        )
    calls, needed = run.instead
    if calls.total.calls:
        yield (
            f"Up to {calls.total.calls:,} further calls are not in the figures above{most_cost(needed)}. "
            f"{', '.join(calls.tests)} {'reads' if len(calls.tests) == 1 else 'read'} written replies where the "
            f"letters have less than {percent(LEAST_LABEL_MASS)} of the probability."
        )
    yield from run.warnings
    for name in run.list_exceeded_limits():
        undecided = ", unless its tests are decided before" if run.early else ""
        yield f"The run will stop early{undecided}: {name} is {getattr(run.limits, name):,}."
    for test, worded in run.wordings.items():
        yield from worded.notes(test)
    if run.power is not None:
        yield from run.power.notes()
    if run.early and run.early.tests:
        yield from run.early.notes()


def _add_options(command: argparse.ArgumentParser) -> None:
    """Add the same options as `contrapose run` has, so that only the verb changes between both commands."""
    add_config(command)
    command.add_argument("--refresh", action="store_true", help="count answered prompts too")
    text = "with several wordings: name the cheapest design whose interval has so many points to either side"
    command.add_argument(
        "--half-width", type=_parse_points, default=HALF_WIDTH, metavar="POINTS", help=text + " (default: 5)"
    )
    command.add_argument("--json", action="store_true", help="print the figures as JSON")
    command.add_argument("--out", help=argparse.SUPPRESS)
    for name in ("--show-toxic", "--exit-zero"):
        command.add_argument(name, action="store_true", help=argparse.SUPPRESS)


def _parse_points(text: str) -> float:
    """Return a number of points from 0 to 50 as a share, or raise an error."""
    points = float(text)
    if not 0 < points <= 50:
        raise argparse.ArgumentTypeError(f"{text}; expected points above 0 and up to 50")
    return points / 100


def _estimate(arguments: argparse.Namespace) -> int:
    run = estimate(load_chosen_config(arguments), half_width=arguments.half_width)
    return print_lines([format_json(run)] if arguments.json else format_estimate(run, console=Console(highlight=False)))


VERB = Verb(options=_add_options, act=_estimate, example="estimate --suite suite.yaml --model openai/gpt-4.1-mini")
