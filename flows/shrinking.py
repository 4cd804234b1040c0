"""Shrink a failed case: apply its test to shorter and shorter texts, and ask the model about them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pyarrow.parquet as pq
from pydantic import ValidationError

from contrapose.tasks.compare.runs import FinishedRun, read_finished_run
from contrapose.tasks.config.permissions import DATA, OUTPUT, Permissions, allow, list_named_by_user
from contrapose.tasks.config.plan import Plan, is_greedy, plans
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core.chats import parse_chat
from contrapose.tasks.core.errors import ConfigError, ModelError, suggest_name
from contrapose.tasks.core.places import Place
from contrapose.tasks.core.provider import AnswersOnly
from contrapose.tasks.core.records import Case, TextSample, Trial
from contrapose.tasks.core.registry import find, probe
from contrapose.tasks.evaluate.embeddings import make_embedder
from contrapose.tasks.evaluate.scoring import score_trials
from contrapose.tasks.infer.adapting import adapt_to_cases
from contrapose.tasks.infer.ask import ask, is_unasked
from contrapose.tasks.infer.base import HasSomeReplies, Model
from contrapose.tasks.infer.broker import StoreBroker
from contrapose.tasks.infer.budget import Budget, Limits, find_price
from contrapose.tasks.infer.function import PROVIDER as FUNCTION
from contrapose.tasks.infer.keys import Keys
from contrapose.tasks.infer.task import open_model
from contrapose.tasks.infer.thoughts import mark_if_cut_off
from contrapose.tasks.perturb.cases import build_cases
from contrapose.tasks.probes.edits.base import TextEdit
from contrapose.tasks.report.html import insert_shortest
from contrapose.tasks.report.publish import explain_unwritable
from contrapose.tasks.shrink.shortest import REPEATS, ShortestPrompt, StoppedError, minimise_text
from contrapose.tasks.store import Store
from contrapose.tasks.store.engine import get_store_file, store_url
from contrapose.tasks.tables.columnar import from_arrow
from contrapose.tasks.text.masking import make_shower

SHORTEST = "shortest.json"
"""File in the folder of a run: every shortest prompt, by its case."""

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedCase:
    """A failed case of a finished run, with everything that is needed to ask it again."""

    folder: Place
    """Of the run."""
    config: RunConfig
    """Of the run."""
    plan: Plan
    """The test with its settings, and the threshold that the case had."""
    case: Case
    """As the run asked it first."""

    def build(self, text: str) -> Case:
        """Return the case that the test makes of another text, with the generator seeded as in the run."""
        own = self.case
        kind = probe(self.plan.test).sample_type
        kind = kind if issubclass(kind, TextSample) else TextSample
        fields: dict[str, Any] = {"text": text, "options": own.options, "answers": own.answers}
        if (chat := parse_chat(own.original_prompt)) is None:
            fields["context"] = own.context
        else:
            # Of a conversation the message that is the text is shrunk; what it says is all that changes.
            places = [place for place, message in enumerate(chat.messages) if message["content"] == own.original]
            if not places:
                raise ConfigError(
                    "a case of a conversation whose text stands within a longer message",
                    expected="a text, or a message without options and with the built-in prompt",
                    remedy="Shrink another case.",
                    where=own.id,
                )
            fields |= {"chat": chat.prompt, "turn": places[-1]}
        sample = kind(id=own.sample_id, **fields)
        wordings = {} if own.wording is None else {own.sample_id: (own.wording,)}
        likelihoods: Any = own.details.get("likelihoods", "none")
        built = build_cases(
            [sample], self.plan, seed=self.config.seed, likelihoods=likelihoods, wordings=wordings or None
        )
        return next(case for case in built if case.id == own.id)


def open_case(
    run: str,
    name: str,
    *,
    runs: str = "runs",
    function: str | None = None,
    of_tests: Mapping[str, str] | None = None,
) -> FailedCase:
    """Return a failed case of a finished run, by its id or by the id of its sample.

    Args:
        run: folder or id of the run.
        name: id of the case or of its sample.
        runs: folder of the runs that ids name.
        function: id under which the function that the run asked is offered now, if it asked one.
        of_tests: names under which functions of a relation are offered now, by `edit` and `score`.

    Raises:
        ContraposeError: there is no such run, or its case cannot be shrunk; nothing was asked.
    """
    finished = read_finished_run(run, Place.at(runs, setting="--runs"))
    folder, config = finished.folder, _read_config(finished, function)
    config = _set_functions(config, of_tests or {})
    # Neither data nor outputs of the run are used.
    free = Permissions(folder=Path.cwd(), environment={**Permissions.here().environment, DATA: "*", OUTPUT: "*"})
    chosen = plans(config, free)
    row = _find_failure(folder, name, [plan.test for plan in chosen if _can_shrink(plan)])
    plan = next(plan for plan in chosen if plan.test == row["test_type"])
    settings = dict(plan.settings)
    if plan.probe_settings.calibrated:
        settings["threshold"] = {row["scorer"]: (row["threshold_low"], row["threshold_high"])}
    plan = plan.model_copy(update={"settings": settings, "repeats": 1, "control": False})
    with (folder / "cases.parquet").here() as path:
        [case] = from_arrow(pq.read_table(path, filters=pc.field("id") == _drop_repeat(row)), Case)
    failed = FailedCase(folder=folder, config=config, plan=plan, case=case)
    now = failed.build(case.original)
    if (now.original_prompt, now.perturbed_prompt) != (case.original_prompt, case.perturbed_prompt):
        raise ConfigError(
            f"{case.probe} now makes another prompt of this case (version {now.version}, then {case.version})",
            expected="the prompt of the run",
            remedy="Run the test again, and shrink a case of the new run.",
            where=case.id,
        )
    return failed


def _read_config(run: FinishedRun, function: str | None) -> RunConfig:
    """Return the configuration of a run whose model can be asked, with the permissions that the user's run had."""
    manifest = (run.folder / "manifest.json").json()
    try:
        config = RunConfig.model_validate({**manifest["config"], "runner": "threads", "runner_args": {}})
    except ValidationError as error:
        raise ConfigError(
            "the run has a configuration of another version of Contrapose",
            expected="one of this version",
            remedy="Run the suite again, and shrink a case of the new run.",
            where=run.id,
        ) from error
    provider = config.model_spec().known_provider
    if (provider == FUNCTION) != (function is not None):
        raise ConfigError(
            f"the model of the run is {config.model}",
            expected="no other model" if function else "the function itself, which only Python can pass",
            remedy="Leave out model." if function else "Call contrapose.shrink(run, case, model=function).",
            where="model",
        )
    is_recorded = isinstance(find("providers", provider)(), HasSomeReplies)
    if is_recorded or config.batch_api:
        raise ConfigError(
            "the replies are a recording" if is_recorded else "the prompts went through a batch API",
            expected="a run whose model answers at once",
            remedy=f"Run the test with {'--model' if is_recorded else '--set batch_api=false'}, and shrink that run.",
            where=run.id,
        )
    noted = Store().runs.get(run.id)
    if get_store_file(store_url()) and noted is not None:
        before, now = json.loads(noted.config), config.model_dump(mode="json")
        allow(list_named_by_user({name: now[name] for name in ("model", "tests") if before.get(name) == now[name]}))
    return config.model_copy(update={"model": function or config.model})


def _set_functions(config: RunConfig, functions: Mapping[str, str]) -> RunConfig:
    """Return the configuration with the functions of relations that a Python call passes again."""
    if not functions:
        return config
    values = config.model_dump()
    for settings in values["tests"]["relation"].values():
        settings.update({name: new for name, new in functions.items() if settings.get(name)})
    return RunConfig.model_validate(values)


def _find_failure(folder: Place, name: str, fitting: Sequence[str]) -> Row:
    """Return the result row of a failed case of one of these tests, the first failed repeat."""
    counted = ~pc.field("control")
    named = ((pc.field("case_id") == name) | (pc.field("sample_id") == name)) & counted
    with (folder / "results.parquet").here() as path:
        rows: list[Row] = pq.read_table(path, filters=named).to_pylist()
        known = pq.read_table(path, columns=["case_id", "pass"], filters=counted).to_pylist()
    failed = [row for row in rows if _is_failure(row)]
    if failed and not any(row["test_type"] in fitting for row in failed):
        raise ConfigError(
            f"{failed[0]['test_type']} has no edit that keeps the answer and fits any part of a text",
            expected=f"a case of {', '.join(fitting) or 'typo, casing, spacing or a relation that says stays'}",
            remedy="Choose a failure of one of these tests, or run them.",
            where="CASE",
        )
    failed = [row for row in failed if row["test_type"] in fitting]
    cases = list(dict.fromkeys(map(_drop_repeat, failed)))
    if len(cases) != 1:
        ids = [row["case_id"] for row in known if row["pass"] is False]
        observed = f"failed as {' and as '.join(cases)}" if cases else "did not fail" if rows else "was not asked"
        otherwise = f"Choose one of the failures in report.html{f', such as {cases[0]}' if cases else ''}."
        remedy = otherwise if rows else suggest_name(name, ids, otherwise=otherwise)
        raise ConfigError(f"{name} {observed}", expected="one case that failed", remedy=remedy, where="CASE")
    return failed[0]


def _is_failure(row: Row) -> bool:
    """Return True if the answer certainly changed, according to the test's scoring."""
    return row["pass"] is False and not row["undecided"]


def _drop_repeat(row: Row) -> str:
    return re.sub(r"#\d+\Z", "", row["case_id"])


def _can_shrink(plan: Plan) -> bool:
    chosen = probe(plan.test)
    return isinstance(chosen, TextEdit) and chosen.can_shrink(plan.probe_settings)


class CaseAsker:
    """Asks the model of a run about shortened texts of one case, and scores the replies as the test does."""

    def __init__(self, failed: FailedCase, *, limits: Limits, repeats: int) -> None:
        if repeats < 1:
            raise ConfigError(f"{repeats}", expected="1 or more", remedy="Set it to 3.", where="repeats")
        config, runs = failed.config, Store().runs
        self.failed, self.spec = failed, config.model_spec()
        self.provider = find("providers", self.spec.known_provider)()
        self.repeats = 1 if is_greedy(config) else repeats
        self.repeat_calls = 0
        self._identity = self.provider.identity(self.spec)
        # Its spending counts to a run of its own, which nobody resumes.
        run = runs.begin(
            f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-shrink", config=config.model_dump_json(), folder=str(Path.cwd())
        )
        runs.end(run, "superseded")
        price = find_price(config.model, config.price, args=config.model_args)
        budget = Budget(limits=limits, price=price)
        self.broker = StoreBroker(Keys(self.spec, self._identity), run=run, model=self.spec.id, budget=budget)

    def test(self, texts: Sequence[str]) -> list[bool]:
        """Return for each text whether it fails every time; ask again only texts that failed the first time."""
        first = self.ask([(text, 0) for text in texts])
        failing = [text for text, row in zip(texts, first, strict=True) if row and _is_failure(row)]
        again = [(text, repeat) for text in failing for repeat in range(1, self.repeats)]
        passing = {text for (text, _), row in zip(again, self.ask(again), strict=True) if row and not _is_failure(row)}
        return [text in failing and text not in passing for text in texts]

    def confirm(self) -> None:
        """Raise ContraposeError unless the complete text fails each time that it is asked."""
        case = self.failed.case
        for row in filter(None, self.ask([(case.original, repeat) for repeat in range(self.repeats)])):
            if row["error"]:
                raise ModelError(row["error"], expected="a reply", remedy="Try again later.", where=case.id)
            if not _is_failure(row):
                raise ConfigError(
                    "it failed by noise: asked again, its answer stays"
                    if row["pass"]
                    else f"rules alone cannot score it: {row['reason']}",
                    expected=f"a case that fails {self.repeats} of {self.repeats} times",
                    remedy="Choose another failure in report.html.",
                    where=case.id,
                )

    def ask(self, asked: Sequence[tuple[str, int]]) -> list[Row | None]:
        """Ask about texts, each with the number of its repeat; return result rows, None if the edit does not apply.

        Raises StoppedError if the budget is spent.
        """
        before = self.broker.budget.spent.calls
        cases = [replace(self.failed.build(text), repeat=repeat) for text, repeat in asked]
        trials = self._ask([case for case in cases if case.skip_reason is None])
        if any(repeat for _, repeat in asked):
            self.repeat_calls += self.broker.budget.spent.calls - before
        if any(map(is_unasked, trials)):
            raise StoppedError(str(self.broker.stopped), expected="a larger budget", remedy="Raise --max-calls.")
        plan, embed = self.failed.plan, make_embedder(self.failed.config.embedding_model)
        scored = iter(score_trials(trials, plan, model=self.spec.id, embed=embed).to_pylist() if trials else ())
        return [next(scored) if case.skip_reason is None else None for case in cases]

    def _ask(self, cases: Sequence[Case]) -> list[Trial]:
        if not cases:
            return []
        adapted = adapt_to_cases(cases, self.broker, model=self._open, provider=self.provider)
        trials = ask(adapted.cases, self.broker, model=self._open, form=adapted.form or "plain")
        return list(map(mark_if_cut_off, trials)) if isinstance(self.provider, AnswersOnly) else trials

    def _open(self) -> Model:
        shared = {"identity": dict(self._identity), "processes": 1}
        return open_model(self.broker.keys.spec.model_copy(update=shared).model_dump_json())


def shrink_case(failed: FailedCase, *, limits: Limits, repeats: int = REPEATS) -> ShortestPrompt:
    """Find the shortest prompt of a case with which its test still fails, and keep it in the folder of the run.

    Raises:
        ContraposeError: the case does not fail when it is asked again, or the budget is spent before that is known.
    """
    asking, case = CaseAsker(failed, limits=limits, repeats=repeats), failed.case
    with asking.broker:
        asking.confirm()
        shortest = minimise_text(case.original, asking.test)
        [row] = asking.ask([(shortest.text, 0)])
    row = row or {}
    prompt = ShortestPrompt(
        case_id=case.id,
        sample_id=case.sample_id,
        test=case.probe,
        text=shortest.text,
        changed=row["test_case"],
        before=row["expected_result"] or "",
        after=row["actual_result"] or "",
        words=shortest.words,
        of=shortest.of,
        repeats=asking.repeats,
        calls=asking.broker.budget.spent.calls,
        repeat_calls=asking.repeat_calls,
        stopped=shortest.stopped,
    )
    _publish(failed, prompt)
    return prompt


def _publish(failed: FailedCase, prompt: ShortestPrompt) -> None:
    """Keep a shortest prompt in the folder of its run, and show it in the report."""
    file, page = failed.folder / SHORTEST, failed.folder / "report.html"
    try:
        kept = {**(file.json() if file.exists() else {}), prompt.case_id: asdict(prompt)}
        file.write(f"{json.dumps(kept, indent=2, sort_keys=True)}\n".encode())
        if page.exists():
            prompts = [ShortestPrompt(**kept[name]) for name in sorted(kept)]
            show = make_shower(show_toxic=failed.config.show_toxic)
            page.write(insert_shortest(page.read().decode(), prompts, show).encode())
    except OSError as error:
        remedy = "Make it writable, and shrink the case again: every answer is cached."
        raise explain_unwritable(failed.folder, error, what=SHORTEST, remedy=remedy) from error
