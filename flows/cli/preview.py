"""`contrapose preview`: show original and perturbed prompts, and skips with their reasons; call no model."""

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
from contrapose.flows.cli.arguments import Verb, add_changes, add_model, add_suite, add_toxic, load_chosen_config
from contrapose.flows.cli.terminal import print_lines, say
from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.config.plan import Plan, plans
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core.chats import parse_chat
from contrapose.tasks.core.records import Case, Likelihoods
from contrapose.tasks.core.registry import find, probe, provider
from contrapose.tasks.load.samples import LoadedSamples, load_samples, shuffle_fairly
from contrapose.tasks.perturb.cases import build_cases, draw_further_ids
from contrapose.tasks.perturb.wordings import assign_wordings
from contrapose.tasks.report.preview import PreviewTally, format_intro, format_sample, format_sent, print_indented
from contrapose.tasks.report.rows import format_rows, is_user_file, make_left_out
from contrapose.tasks.text.cleaning import one_line
from contrapose.tasks.text.diff import find_word_changes
from contrapose.tasks.text.masking import make_shower, mask_values
from contrapose.tasks.text.wording import columns_read, describe_skips

PORTION = 200
"""Samples whose cases exist at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """A test with its samples; it makes the cases on demand, and does not keep them."""

    plan: Plan
    """The selected test."""
    loaded: LoadedSamples
    """Its samples, checked."""
    seed: int
    """Seed of every random choice of the run."""
    likelihoods: Likelihoods
    """Which log-likelihoods the model gives."""
    model: ModelSpec
    """The model, with what precedes every prompt."""
    skips: Counter[str] = field(default_factory=Counter)
    """Skip reasons of the samples, by code; counted whenever all cases are made."""

    @property
    def chat(self) -> bool:
        """True if the model is sent messages, as far as that is known without loading it."""
        if self.model.args.get("endpoint") == "completions":
            return False
        return self.model.apply_chat_template is not False or not provider(self.model.known_provider).local

    def describe_rows(self) -> str:
        """Describe how many rows of its source the test takes."""
        loaded = self.loaded
        return format_rows(len(loaded.samples), loaded.rows, limited_by=self.plan.limited_by, left_out=loaded.left_out)

    def describe_skips(self) -> str:
        """Count the reasons for skipped samples; complete after all cases are made."""
        return describe_skips(self.plan.test, self.skips, len(self.loaded.samples))

    def order_fairly(self) -> Preview:
        """Return the same test with its samples in the order in which an early-stopping run asks them."""
        samples = self.loaded.samples
        places = shuffle_fairly(
            [sample.cluster for sample in samples], [sample.id for sample in samples], seed=self.seed
        )
        return replace(self, loaded=replace(self.loaded, samples=[samples[place] for place in places]))

    def cases(self, positions: Sequence[int] | None = None) -> Iterator[list[Case]]:
        """Make the cases of each sample, in order; with `positions`, only of these samples."""
        samples = self.loaded.samples
        self.skips.clear()
        chosen = samples if positions is None else [samples[position] for position in positions]
        ids = (sample.id for sample in samples)
        besides = draw_further_ids(ids, self.plan, seed=self.seed, likelihoods=self.likelihoods)
        wordings = assign_wordings((sample.id for sample in samples), self.plan, seed=self.seed)
        for start in range(0, len(chosen), PORTION):
            portion = chosen[start : start + PORTION]
            built = build_cases(
                portion,
                self.plan,
                seed=self.seed,
                likelihoods=self.likelihoods,
                besides=besides,
                wordings=wordings,
            )
            for _, own in groupby(built, key=lambda case: case.sample_id):
                cases = list(own)
                self.skips.update([cases[0].skip_reason] if cases[0].skip_reason else ())
                yield cases


def load_previews(config: RunConfig) -> list[Preview]:
    """Load the samples of the selected tests, so that errors in the data are reported first.

    Raises:
        ContraposeError: no test is selected, or a configuration or data source is wrong.
    """
    selected, spec, seed = plans(config), config.model_spec(), config.seed
    likelihoods = find("providers", spec.known_provider)().likelihoods(spec)
    tests = []
    for plan in selected:
        own = probe(plan.test)
        loaded = load_samples(plan.data, own.sample_type, limit=plan.limit, seed=seed, uses_answers=own.uses_answers)
        tests.append(Preview(plan=plan, loaded=loaded, seed=seed, likelihoods=likelihoods, model=spec))
    return tests


def load_previews_to_show(config: RunConfig) -> list[Preview]:
    """Load the samples of the selected tests, without repeats, and with only the controls that the run asks for."""
    if config.tests.defaults.control is None:
        defaults = config.tests.defaults.model_copy(update={"control": False})
        config = config.model_copy(update={"tests": config.tests.model_copy(update={"defaults": defaults})})
    # Repeats ask the same prompts again.
    return [replace(test, plan=test.plan.model_copy(update={"repeats": 1})) for test in load_previews(config)]


def list_left_out(tests: Sequence[Preview], *, show_toxic: bool) -> Iterator[str]:
    """List for people, line by line, which rows of each source were left out."""
    show = make_shower(show_toxic=show_toxic)
    for preview in tests:
        loaded = preview.loaded
        if loaded.left_out:
            summary = make_left_out(preview.plan.data.source, loaded.rows, loaded.left_out, [preview.plan.test])
            yield from (show(line) for line in (summary.title, *summary.lines()))


def make_record(cases: Sequence[Case], preview: Preview | None = None) -> dict[str, Any]:
    """Describe a sample by its first case; put several cases under `cases`; with a preview add the prompts as sent."""
    records = []
    for case in cases:
        changes = [] if case.perturbed is None else find_word_changes(case.original, case.perturbed)
        record = {
            "sample_id": case.sample_id,
            "case_id": case.id,
            "probe": case.probe,
            "probe_version": case.version,
            "changed": case.skip_reason is None,
            "skip_reason": case.skip_reason,
            "confidence": case.confidence,
            "control": case.control,
            "wording": case.wording,
            "original": case.original,
            "perturbed": case.perturbed,
            "edits": [edit._asdict() for edit in changes],
            "original_prompt": case.original_prompt,
            "perturbed_prompt": case.perturbed_prompt,
            "options": list(case.options),
        }
        if preview is not None:
            prompts = {"original": case.original_prompt, "perturbed": case.perturbed_prompt}
            send = preview.model.messages if preview.chat else preview.model.in_one_text
            record["sent"] = {side: None if prompt is None else send(prompt) for side, prompt in prompts.items()}
            offers = {
                side: chat.tools
                for side, prompt in prompts.items()
                if (chat := parse_chat(prompt or "")) and chat.tools
            }
            record |= {"tools": offers} if offers else {}
        records.append(record)
    return records[0] if len(cases) == 1 else {**records[0], "cases": records}


def format_previews(
    tests: Sequence[Preview], *, console: Console, most: int, skipped: bool, show_toxic: bool, sent: bool = False
) -> Iterator[str]:
    """Format a section for each test: counts, and at most so many samples.

    Args:
        tests: the tests.
        console: its width, colours and encoding.
        most: samples shown of each test.
        skipped: show those that were skipped, not those that were changed.
        show_toxic: leave toxic words as they are.
        sent: show what the model is sent for the first changed sample of each test, and no other sample.
    """
    show, brackets = (
        make_shower(show_toxic=show_toxic, longest=50_000),
        console.no_color or console.color_system is None,
    )
    for number, preview in enumerate(tests):
        tally, test, source = PreviewTally(), preview.plan.test, preview.plan.data.source
        for cases in preview.cases():
            tally.add(cases)
        positions = tally.skipped if skipped and not sent else tally.changed
        chosen = positions[:1] if sent else choose_evenly(positions, most)
        read = preview.loaded.columns if is_user_file(source) else None
        columns = columns_read(read) if read else ""
        with console.capture() as captured:
            if number:
                console.print()
            for line in format_intro(test, source, tally, judged=preview.describe_rows(), columns=columns):
                print_indented(line, console, by=0)
            if chosen and not sent:
                what = "skipped" if skipped else "changed"
                console.print(Text(f"\n{len(chosen):,} of {len(positions):,} {what} samples:", style="dim"))
            for cases in preview.cases(chosen):
                lines = format_sample(cases, show, brackets=brackets)
                if sent:
                    # Only loading a model would show whether it has a template.
                    local = provider(preview.model.known_provider).local and preview.chat
                    title = f"What {one_line(preview.model.id)} is sent for {one_line(cases[0].id)}"
                    title += ", in its chat template if it has one" if local else ""
                    print_indented(Text(f"\n{title}:"), console, by=0)
                    lines = format_sent(cases, preview.model, show, chat=preview.chat, brackets=brackets)
                for heading, text in lines:
                    print_indented(heading, console, by=0)
                    print_indented(text, console, by=4)
        # A terminal that cannot write a character must not end the preview.
        yield captured.get().encode(console.encoding, "backslashreplace").decode(console.encoding).removesuffix("\n")


def choose_evenly(positions: Sequence[int], most: int) -> list[int]:
    """Choose at most so many of the positions, at even distances, because data are often sorted by kind."""
    count = min(most, len(positions))
    return [positions[index * len(positions) // count] for index in range(count)]


def _add_options(command: argparse.ArgumentParser) -> None:
    """Add the options; `--probe` and `--input` are aliases for users who only perturb data."""
    add_suite(command, default=None, default_text="every test with its default settings, all samples")
    add_model(command)
    add_changes(command, test="--probe", data="--input")
    add = command.add_argument
    text = "show at most N samples a test, spread evenly (default: 10)"
    add("--show", type=int, default=10, metavar="N", help=text)
    add("--skipped", action="store_true", help="show skipped samples, each with its reason")
    text = (
        "show the complete prompts for the first changed sample of each test: system message, examples, text before "
        "and after. With --json: for every sample, under sent"
    )
    add("--prompt", action="store_true", help=text)
    add_toxic(command)
    text = (
        "print one JSON object per sample, masked without --show-toxic. edits: replaced parts of the original "
        "{start, end, new}, in characters. cases: all cases of a sample with several"
    )
    add("--json", action="store_true", help=text)


def _preview(arguments: argparse.Namespace) -> int:
    config = load_chosen_config(arguments)
    tests = load_previews_to_show(config)
    for warning in dict.fromkeys(warning for preview in tests for warning in preview.loaded.warnings):
        say(warning)
    for line in list_left_out(tests, show_toxic=config.show_toxic):
        say(line)
    if arguments.json:
        # Test by test, in the order of the data; escaped to ASCII.
        records = (
            make_record(cases, preview if arguments.prompt else None) for preview in tests for cases in preview.cases()
        )
        return print_lines(json.dumps(mask_values(record, show_toxic=config.show_toxic)) for record in records)
    shown = {"most": arguments.show, "skipped": arguments.skipped, "sent": arguments.prompt}
    return print_lines(format_previews(tests, console=Console(highlight=False), show_toxic=config.show_toxic, **shown))


VERB = Verb(options=_add_options, act=_preview, example=COMMONEST["preview"])
