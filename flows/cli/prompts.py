"""`contrapose prompts`: what a run would have to ask, as files for a batch endpoint or for vLLM's `run-batch`."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

from contrapose.flows.cli.arguments import Verb, add_config, config_of
from contrapose.flows.cli.estimate import portions
from contrapose.flows.cli.preview import previews
from contrapose.flows.cli.terminal import print_lines, say
from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core.damage import put_in_place
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.questions import Question, to_json
from contrapose.tasks.core.registry import find
from contrapose.tasks.infer.ask import asked, in_words, wants_letter
from contrapose.tasks.infer.forms import forms_of, known_form
from contrapose.tasks.infer.keys import Keys
from contrapose.tasks.infer.openai.batches import MOST_BYTES, MOST_LINES, bodies_of, parted, request_line
from contrapose.tasks.store import Store
from contrapose.tasks.store.prompts import PromptRow
from contrapose.tasks.text.wording import counted

LOOKED_UP = 500
"""Questions that are looked up at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenQuestions:
    """What a run would have to ask."""

    spec: ModelSpec
    """The model, which is not reached."""
    rows: dict[str, PromptRow]
    """Questions without an answer that no batch is asking, by their keys, in the order of the run."""
    answered: int
    """Questions with an answer."""
    asked: int
    """Questions that a batch is asking."""
    asks_back: list[str]
    """Tests that may ask further questions about replies, which only the run itself can make."""


def open_questions(config: RunConfig) -> OpenQuestions:
    """The distinct questions of a run that the store cannot answer, written down as those of a new run.

    Raises:
        ConfigError: the model is not behind an OpenAI-compatible endpoint.
        ContraposeError: the configuration or a data source is wrong.
    """
    spec = _offline(config)
    provider = find("providers", spec.provider)()
    keys = Keys(spec, provider.identity(spec))
    forms = forms_of(provider, spec)
    form, form_key = known_form(forms, keys), keys.of_forms(forms) if len(forms) > 1 else ""
    tests, store = previews(config), Store()
    rows: dict[str, PromptRow] = {}
    answered = being_asked = 0
    seen: set[str] = set()
    for preview in tests:
        for portion in portions(preview):
            cases = [case for case in portion if case.skip_reason is None]
            letters = {question for case in cases if wants_letter(case) for question in asked([case], form=form)}
            questions = {keys.of(question): question for question in (*asked(cases, form=form), *in_words(cases))}
            new = {key: question for key, question in questions.items() if key not in seen}
            seen.update(new)
            there, written = store.answers.find(list(new)), store.prompts.find(list(new))
            for key, question in new.items():
                if key in there:
                    answered += 1
                elif key in written and written[key].batch:
                    being_asked += 1
                else:
                    noted = form_key if question in letters else ""
                    rows[key] = _row(key, question, spec=spec, form_key=noted)
    asks_back = [preview.plan.test for preview in tests if preview.plan.probe_settings.asks_back(preview.likelihoods)]
    return OpenQuestions(spec=spec, rows=rows, answered=answered, asked=being_asked, asks_back=asks_back)


def note(unanswered: OpenQuestions, config: RunConfig) -> None:
    """Keep what is about to leave, as the questions of a run of their own: what comes back is counted to it."""
    store = Store()
    moment = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    run = store.runs.begin(f"{moment}-batch", config=config.model_dump_json(), folder=str(Path.cwd()))
    store.runs.end(run, "finished")
    rest = iter(unanswered.rows.values())
    while portion := [row._replace(run=run) for row in islice(rest, LOOKED_UP)]:
        store.prompts.note(portion)


def _offline(config: RunConfig) -> ModelSpec:
    """The model, left_aside to reach nobody."""
    spec = config.model_spec()
    if spec.provider != "openai":
        raise ConfigError(
            f"{spec.id} is asked by no batch endpoint",
            expected="openai/<model>, whose requests OpenAI's Batch API and `vllm run-batch` read",
            remedy="Name one in --model.",
            where="model",
        )
    return spec.model_copy(update={"args": {**spec.args, "offline": True}})


def _row(key: str, question: Question, *, spec: ModelSpec, form_key: str) -> PromptRow:
    return PromptRow(key=key, question=to_json(question), model=spec.id, form_key=form_key, run="")


def lines_of(rows: Sequence[PromptRow], spec: ModelSpec) -> Iterator[bytes]:
    """The questions as lines of a batch file."""
    from contrapose.tasks.core.questions import from_json

    bodies = bodies_of(spec.model_dump_json())
    return (request_line(row.key, from_json(row.question), bodies) for row in rows)


def write(unanswered: OpenQuestions, out: Path, *, most_lines: int, most_bytes: int) -> list[Path]:
    """Write the questions; where one file does not hold them, several get a number each."""
    parts: list[Path] = []
    lines = lines_of(list(unanswered.rows.values()), unanswered.spec)
    for number, content in enumerate(parted(lines, most_lines=most_lines, most_bytes=most_bytes), start=1):
        path = out.with_name(f"{out.stem}-{number}{out.suffix}")
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_name(f".{path.name}.part")
        new.write_bytes(content)
        put_in_place(new, path)
        parts.append(path)
    if len(parts) == 1:
        parts = [parts[0].replace(out)]
    return parts


def left_aside(unanswered: OpenQuestions) -> Iterator[str]:
    """What was left out of the files, and what only the run itself can ask."""
    if unanswered.answered:
        yield f"{counted('prompts', unanswered.answered)} answered in the response store, left out"
    if unanswered.asked:
        yield f"{counted('prompts', unanswered.asked)} in a batch that was submitted, left out"
    if unanswered.asks_back:
        yield f"replies of {', '.join(unanswered.asks_back)} that cannot be read are asked about by the run itself"


def _options(command: argparse.ArgumentParser) -> None:
    add_config(command)
    command.add_argument("--out", default="batch.jsonl", metavar="FILE", help="file to write (default: batch.jsonl)")
    command.add_argument(
        "--max-lines", type=int, default=MOST_LINES, metavar="N", help=f"lines a file (default: {MOST_LINES:,})"
    )
    command.add_argument(
        "--max-bytes", type=int, default=MOST_BYTES, metavar="N", help=f"bytes a file (default: {MOST_BYTES:,})"
    )


def _prompts(arguments: argparse.Namespace) -> int:
    config = config_of(arguments)
    for name in ("max_lines", "max_bytes"):
        if getattr(arguments, name) < 1:
            raise ConfigError(
                str(getattr(arguments, name)), expected="1 or more", remedy="Correct it.", where=f"--{name}"
            )
    unanswered = open_questions(config)
    note(unanswered, config)
    paths = write(unanswered, Path(arguments.out), most_lines=arguments.max_lines, most_bytes=arguments.max_bytes)
    for line in left_aside(unanswered):
        say(line)
    if not paths:
        return print_lines(["nothing to ask: every prompt has its answer, or is in a batch"])
    listed = ", ".join(str(path) for path in paths)
    return print_lines([f"{counted('prompts', len(unanswered.rows))} written: {listed}"])


VERB = Verb(options=_options, act=_prompts)
