"""What a run would ask, before any model is called: original against perturbed, skips with their reasons."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

from rich.console import Console
from rich.text import Text

from contrapose.flows.cli import COMMONEST
from contrapose.flows.cli.arguments import Verb, add_changes, add_model, add_suite, add_toxic, config_of
from contrapose.flows.cli.terminal import print_lines, say
from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.config.plan import Plan, plans
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core.records import Case, Likelihoods
from contrapose.tasks.core.registry import find, probe, provider
from contrapose.tasks.load.samples import Loaded, fair_order, load_samples
from contrapose.tasks.perturb.cases import build_cases, drawn_besides
from contrapose.tasks.probes.base import uses_answers
from contrapose.tasks.report.preview import PreviewTally, print_indented, sample_lines, section, sent_lines
from contrapose.tasks.report.rows import is_file, left_out_rows, taken
from contrapose.tasks.text.cleaning import one_line
from contrapose.tasks.text.diff import edits
from contrapose.tasks.text.masking import Show, shower
from contrapose.tasks.text.wording import columns_read, skipped

PORTION = 200
"""Samples whose cases exist at a time."""

LONGEST = 50_000
"""Characters of a text among which a change is looked for, to be shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """One test with its samples; cases are made when they are needed, and not kept."""

    plan: Plan
    """The selected test."""
    loaded: Loaded
    """Its samples, checked."""
    seed: int
    """Seed of every random choice of the run."""
    likelihoods: Likelihoods
    """Which log-likelihoods the model gives."""
    model: ModelSpec
    """The model, with what stands before every prompt."""
    skips: Counter[str] = field(default_factory=Counter)
    """Skip reasons of the samples, by code; counted whenever all cases are made."""

    @property
    def chat(self) -> bool:
        """Whether the model is sent messages, as far as that is known without loading it."""
        if self.model.args.get("endpoint") == "completions":
            return False
        return self.model.apply_chat_template is not False or not provider(self.model.known_provider).local

    def taken(self) -> str:
        """How many rows of its source it takes."""
        loaded = self.loaded
        return taken(len(loaded.samples), loaded.rows, limited_by=self.plan.limited_by, left_out=loaded.left_out)

    def skipped(self) -> str:
        """Why samples were skipped, in words; known when all cases are made."""
        return skipped(self.plan.test, self.skips, len(self.loaded.samples))

    def once(self) -> Preview:
        """The same without repeats, which ask the same prompts again."""
        return replace(self, plan=self.plan.model_copy(update={"repeats": 1}))

    def arranged(self) -> Preview:
        """The same with its samples in the order in which a run that may stop early asks them."""
        samples = self.loaded.samples
        places = fair_order([sample.cluster for sample in samples], [sample.id for sample in samples], seed=self.seed)
        return replace(self, loaded=replace(self.loaded, samples=[samples[place] for place in places]))

    def cases(self, positions: Sequence[int] | None = None) -> Iterator[list[Case]]:
        """The cases of each sample, in order; with `positions`, of these samples."""
        samples = self.loaded.samples
        self.skips.clear()
        chosen = samples if positions is None else [samples[position] for position in positions]
        ids = (sample.id for sample in samples)
        besides = drawn_besides(ids, self.plan, seed=self.seed, likelihoods=self.likelihoods)
        for start in range(0, len(chosen), PORTION):
            portion = chosen[start : start + PORTION]
            built = build_cases(portion, self.plan, seed=self.seed, likelihoods=self.likelihoods, besides=besides)
            for _, own in groupby(built, key=lambda case: case.sample_id):
                cases = list(own)
                self.skips.update([cases[0].skip_reason] if cases[0].skip_reason else ())
                yield cases


def previews(config: RunConfig) -> list[Preview]:
    """The selected tests with their samples, so that what is wrong with the data is told before anything else.

    Raises:
        ContraposeError: no test is selected, or a configuration or data source is wrong.
    """
    selected = plans(config)
    spec = config.model_spec()
    likelihoods = find("providers", spec.known_provider)().likelihoods(spec)
    return [
        Preview(
            plan=plan,
            loaded=load_samples(
                plan.data,
                probe(plan.test).sample_type,
                limit=plan.limit,
                seed=config.seed,
                uses_answers=uses_answers(probe(plan.test)),
            ),
            seed=config.seed,
            likelihoods=likelihoods,
            model=spec,
        )
        for plan in selected
    ]


def without_default_controls(config: RunConfig) -> RunConfig:
    """The same run with only the controls that it asks for: otherwise a preview shows what the tests themselves do."""
    if config.tests.defaults.control is not None:
        return config
    defaults = config.tests.defaults.model_copy(update={"control": False})
    return config.model_copy(update={"tests": config.tests.model_copy(update={"defaults": defaults})})


def left_out(tests: Sequence[Preview], *, show_toxic: bool) -> Iterator[str]:
    """What was left out of each source, line by line, for people."""
    show = shower(show_toxic=show_toxic)
    for preview in tests:
        loaded = preview.loaded
        if loaded.left_out:
            summary = left_out_rows(preview.plan.data.source, loaded.rows, loaded.left_out, [preview.plan.test])
            yield from (show(line) for line in (summary.title, *summary.lines()))


def as_json(tests: Sequence[Preview], *, sent: bool = False) -> Iterator[str]:
    """One line of JSON per sample, test by test, in the order of the data; raw text, escaped to ASCII.

    Args:
        tests: the tests.
        sent: also tell what the model is sent, as messages or as one text.
    """
    for preview in tests:
        for cases in preview.cases():
            yield json.dumps(record(cases, preview if sent else None))


def record(cases: Sequence[Case], preview: Preview | None = None) -> dict[str, Any]:
    """A sample by its first case; where it has several, all of them are under `cases`; with a preview what is sent."""
    plain = [_plain(case) | ({} if preview is None else {"sent": _sent(case, preview)}) for case in cases]
    return plain[0] if len(cases) == 1 else {**plain[0], "cases": plain}


def _sent(case: Case, preview: Preview) -> dict[str, Any]:
    """What the model is sent for each prompt of a case: messages, or a text."""
    prompts = {"original": case.original_prompt, "perturbed": case.perturbed_prompt}
    made = preview.model.messages if preview.chat else preview.model.in_one_text
    return {side: None if prompt is None else made(prompt) for side, prompt in prompts.items()}


def _plain(case: Case) -> dict[str, Any]:
    return {
        "sample_id": case.sample_id,
        "case_id": case.id,
        "probe": case.probe,
        "probe_version": case.version,
        "changed": case.skip_reason is None,
        "skip_reason": case.skip_reason,
        "confidence": case.confidence,
        "control": case.control,
        "original": case.original,
        "perturbed": case.perturbed,
        "edits": [] if case.perturbed is None else [edit._asdict() for edit in edits(case.original, case.perturbed)],
        "original_prompt": case.original_prompt,
        "perturbed_prompt": case.perturbed_prompt,
        "options": list(case.options),
    }


def as_text(
    tests: Sequence[Preview],
    *,
    console: Console,
    most: int,
    skipped: bool,
    show_toxic: bool,
    sent: bool = False,
) -> Iterator[str]:
    """A section per test, as the console would print it.

    Args:
        tests: the tests.
        console: its width, colours and encoding.
        most: samples shown of each test.
        skipped: show those that were skipped, not those that were changed.
        show_toxic: leave toxic words as they are.
        sent: show what the model is sent for the first changed sample of each test, and no other sample.
    """
    for number, preview in enumerate(tests):
        with console.capture() as captured:
            if number:
                console.print()
            positions = _print_counts(preview, console, skipped=skipped and not sent)
            show = shower(show_toxic=show_toxic, longest=LONGEST)
            if sent:
                _print_sent(preview, console, positions[:1], show)
            else:
                _print_samples(preview, console, positions, show, most=most, what="skipped" if skipped else "changed")
        # A terminal that cannot write a character must not end the preview.
        yield captured.get().encode(console.encoding, "backslashreplace").decode(console.encoding).removesuffix("\n")


def _print_counts(preview: Preview, console: Console, *, skipped: bool) -> Sequence[int]:
    """Print how many samples were changed and skipped; their positions, of one kind or the other."""
    tally = PreviewTally()
    for cases in preview.cases():
        tally.add(cases)
    read = preview.loaded.columns if is_file(preview.plan.data.source) else None
    columns = columns_read(read) if read else ""
    for line in section(preview.plan.test, preview.plan.data.source, tally, judged=preview.taken(), columns=columns):
        print_indented(line, console, by=0)
    return tally.skipped if skipped else tally.changed


def _print_samples(
    preview: Preview, console: Console, positions: Sequence[int], show: Show, *, most: int, what: str
) -> None:
    chosen = spread(positions, most)
    if chosen:
        console.print(Text(f"\n{len(chosen):,} of {len(positions):,} {what} samples:", style="dim"))
    for cases in preview.cases(chosen):
        for heading, text in sample_lines(cases, show, brackets=_has_no_colours(console)):
            print_indented(heading, console, by=0)
            print_indented(text, console, by=4)


def _print_sent(preview: Preview, console: Console, positions: Sequence[int], show: Show) -> None:
    """Print what the model is sent for some samples, each message or text as a whole."""
    for cases in preview.cases(positions):
        title = f"What {one_line(preview.model.id)} is sent for {one_line(cases[0].id)}"
        # Only loading a model would show whether it has one.
        local = provider(preview.model.known_provider).local and preview.chat
        print_indented(Text(f"\n{title}{', in its chat template if it has one' if local else ''}:"), console, by=0)
        for heading, text in sent_lines(
            cases, preview.model, show, chat=preview.chat, brackets=_has_no_colours(console)
        ):
            print_indented(heading, console, by=0)
            print_indented(text, console, by=4)


def _has_no_colours(console: Console) -> bool:
    return console.no_color or console.color_system is None


def spread(positions: Sequence[int], most: int) -> list[int]:
    """At most so many of the positions, spread evenly: data are often sorted by kind."""
    if len(positions) <= most:
        return list(positions)
    return [positions[index * len(positions) // most] for index in range(most)]


def _options(command: argparse.ArgumentParser) -> None:
    """`--probe` and `--input` are what people who only perturb call a test and its data."""
    add_suite(command, default=None, default_text="every test with its default settings, all samples")
    add_model(command)
    add_changes(command, test="--probe", data="--input")
    command.add_argument(
        "--show", type=int, default=10, metavar="N", help="show at most N samples a test, spread evenly (default: 10)"
    )
    command.add_argument("--skipped", action="store_true", help="show samples that are skipped, each with its reason")
    command.add_argument(
        "--prompt",
        action="store_true",
        help="show all that the model is sent for the first changed sample of each test: system message, examples, and "
        "the prompt before and after the change; with --json for every sample, under sent",
    )
    add_toxic(command)
    command.add_argument(
        "--json",
        action="store_true",
        help="print one JSON object per sample, all of them, as raw text: toxic words are not masked; edits are the "
        "parts {start, end, new} of the original that were replaced, in characters; a sample with several cases "
        "has the first at the top level and all of them under cases",
    )


def _preview(arguments: argparse.Namespace) -> int:
    config = config_of(arguments)
    tests = [preview.once() for preview in previews(without_default_controls(config))]
    for warning in dict.fromkeys(warning for preview in tests for warning in preview.loaded.warnings):
        say(warning)
    for line in left_out(tests, show_toxic=config.show_toxic):
        say(line)
    if arguments.json:
        return print_lines(as_json(tests, sent=arguments.prompt))
    return print_lines(
        as_text(
            tests,
            console=Console(highlight=False),
            most=arguments.show,
            skipped=arguments.skipped,
            show_toxic=config.show_toxic,
            sent=arguments.prompt,
        )
    )


VERB = Verb(options=_options, act=_preview, example=COMMONEST["preview"])
