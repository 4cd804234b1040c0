"""A probe, a provider and a report of another package: found by entry points, known everywhere, no line of ours."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from own_process import Ended, run_process
from prefect.settings import PREFECT_API_URL

PROBE = '''
"""Does the answer change when the question is shouted?"""

from collections import Counter
from dataclasses import replace

import numpy as np
from contrapose.tasks.probes.base import Column, Measure, Probe, ProbeSettings, letter_options, letters
from contrapose.tasks.probes.choices import read_choice, step_of
from contrapose.tasks.probes.panels import Bars, shares
from contrapose.tasks.probes.values import all_or_nothing
from contrapose.tasks.core.records import Case, Score, TextSample


class ShoutingSettings(ProbeSettings):
    """None of its own."""


class Loudness:
    def __init__(self):
        self.chosen = Counter()

    def add(self, rows):
        self.chosen.update(rows["shouted_choice"].dropna())

    def panels(self, outcome):
        return [Bars(title="Letters under shouting", shares=shares(dict(sorted(self.chosen.items()))))]


class Shouting(Probe):
    name = "shouting"
    category = "robustness"
    version = "1"
    summary = "Shouts the question: the answer should stay."
    sample_type = TextSample
    settings_type = ShoutingSettings
    bundled_data = "negation"
    columns = {
        "capitals": Column("int", "Capital letters of the changed text.", "1"),
        "shouted_choice": Column("string", "Letter that was chosen under the shouted question."),
    }
    default_gate = 0.9

    def cases(self, sample, settings, *, rng, likelihoods):
        labels = letters(len(sample.options))
        loud = sample.text.upper()
        return [
            Case(
                id=f"shouting/{sample.id}", sample_id=sample.id, probe="shouting", version="1",
                original=sample.text, perturbed=loud if sample.options else None, options=sample.options, labels=labels,
                original_prompt=f"{sample.text}\\n{letter_options(sample.options)}",
                perturbed_prompt=f"{loud}\\n{letter_options(sample.options)}" if sample.options else None,
                asks="choose", scorer="likelihood", skip_reason=None if sample.options else "without_options",
            )
        ]

    def score(self, trials, settings, *, embed):
        return [self._scored(trial) for trial in trials]

    def _scored(self, trial):
        read = [read_choice(each, labels=trial.case.labels, options=trial.case.options)
                for each in (trial.expected, trial.actual)]
        if None in read:
            return Score(value=None, passed=None, reason="A reply names no option.", undecided=True)
        same = read[0].index == read[1].index
        own = {"capitals": sum(map(str.isupper, trial.case.perturbed)),
               "shouted_choice": trial.case.labels[read[1].index]}
        return Score(value=float(same), passed=same, reason="The choice " + ("stayed." if same else "changed."),
                     columns=own)

    def expected_pass(self, part, settings):
        return all_or_nothing(part)

    def summarise(self, results):
        return {"loudest": int(results["capitals"].max())}

    def picture(self):
        return Loudness()

    def measures(self, results):
        return [Measure(name="mean_capitals", values=np.asarray(results["capitals"], dtype=float))]
'''
PROVIDER = '''
"""Always the option with the longest text, computed here."""

import re

from contrapose.tasks.infer.base import refuse_unknown
from contrapose.tasks.infer.budgeted_batches import Batch, answer_batch
from contrapose.tasks.config.prices import FREE
from contrapose.tasks.core.provider import Argument, Check
from contrapose.tasks.core.records import Completion, Usage


class Longest:
    cases_per_task = 1000
    local = True
    knows_weights = True
    concurrency = 1
    arguments = {
        "lead": Argument(type="number", description="Nats between the longest option and the others.", default=2.0),
        "pause": Argument(type="seconds", description="Between two answers.", default=0.0, role="pace"),
    }

    def likelihoods(self, spec):
        return "choices"

    def price(self, spec):
        return FREE

    def check(self, spec):
        return Check(state="warning", observed="longest works, and knows nothing", remedy="Use a model.")

    def identity(self, spec):
        refuse_unknown(spec, self.arguments)
        return {"revision": "1", "dtype": "none", "device": "here"}

    def open(self, spec):
        return Measuring(float(spec.args.get("lead", 2.0)))


class Measuring:
    def __init__(self, lead):
        self.lead = lead

    def answer(self, questions, broker):
        most = {question: usage(question) for question in questions}
        compute = lambda held: [self.chosen(question) for question in held]
        answer_batch(Batch(questions=tuple(questions), most=most, compute=compute), broker)

    def chosen(self, question):
        options = dict(re.findall(r"^([A-Z])[.] (.*)$", question.prompt, re.M))
        longest = max(question.labels, key=lambda label: len(options[label]))
        scores = tuple(-0.1 if label == longest else -0.1 - self.lead for label in question.labels)
        return Completion(text=longest, option_loglikelihoods=scores, usage=usage(question))

    def notes(self):
        return {}


def usage(question):
    return Usage(calls=1, prompt_tokens=len(question.prompt.split()), completion_tokens=1)
'''
REPORT = """
def render(report):
    return "\\n".join(test["test_type"] for test in report.summary["tests"]).encode()
"""
POINTS = """
[contrapose.probes]
shouting = shouting.probe:Shouting

[contrapose.providers]
longest = shouting.provider:Longest

[contrapose.reports]
tests.txt = shouting.report:render
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A folder in which the package lies as pip would have installed it."""
    folder = tmp_path / "site"
    (folder / "shouting").mkdir(parents=True)
    (folder / "shouting" / "__init__.py").write_text("")
    (folder / "shouting" / "probe.py").write_text(PROBE)
    (folder / "shouting" / "provider.py").write_text(PROVIDER)
    (folder / "shouting" / "report.py").write_text(REPORT)
    info = folder / "shouting-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: shouting\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(POINTS)
    return folder


Command = Callable[..., Ended]


@pytest.fixture
def contrapose(package: Path, tmp_path: Path) -> Command:
    """The command where the package is installed."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(package), os.environ.get("PYTHONPATH", "")]),
        "CONTRAPOSE_HOME": str(tmp_path / "home"),
        "PREFECT_API_URL": str(PREFECT_API_URL.value()),
    }

    return partial(run_process, sys.executable, "-m", "contrapose.flows.cli", env=environment)


@pytest.mark.usefixtures("prefect_server")
def test_a_probe_of_another_package_is_described_validated_and_shown(contrapose: Command, tmp_path: Path) -> None:
    chosen = ["--model", "longest", "--set", "model_args.pause=0", "--set", "model_args.lead=3", "--test", "shouting"]
    ended = contrapose("run", *chosen, "--limit", "30", "--exit-zero", "--out", str(tmp_path / "runs"))
    assert ended.returncode == 0, ended.stderr
    (folder,) = (tmp_path / "runs").glob("[!.]*")
    field = pq.read_schema(folder / "results.parquet").field("capitals")
    assert field.metadata == {b"description": b"Capital letters of the changed text.", b"unit": b"1"}
    (told,) = json.loads((folder / "summary.json").read_text())["tests"]
    assert told["figures"]["loudest"] > 10
    assert told["estimates"]["mean_capitals"]["interval"] is not None
    assert told["gate_basis"] == "default, not calibrated"
    assert "Letters under shouting" in (folder / "report.html").read_text()
    assert (folder / "tests.txt").read_text() == "shouting"
    assert json.loads((folder / "validation.json").read_text())["sound"]
    (kept,) = pq.read_table(tmp_path / "runs" / ".history").to_pylist()
    assert [test["test_type"] for test in kept["tests"]] == ["shouting"]
    made_of = str(kept["made_of"])
    assert "model_args.lead" in made_of
    assert "model_args.pause" not in made_of
    assert told["passed"] == told["scored"] > 20
