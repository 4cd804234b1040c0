"""Remedies of recorded verdicts of judges get a person further."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from remedies.following import Attempt, Case, Follow, change, follow_case, write

from contrapose.flows.cli import main
from contrapose.tasks.certify.verdict_log import WIDE

PAIR = {"pair": "q1", "first": "gpt-4.", "second": "b", "reply": "[[A]]"}
SWAPPED = {**PAIR, "first": "b", "second": "gpt-4.", "reply": "[[B]]"}
READ = "certify log.jsonl"


def lines(*rows: object) -> str:
    """Return rows as JSON lines."""
    return "".join(f"{json.dumps(row)}\n" for row in rows)


def rename_columns(*names: str) -> Follow:
    """Rename the columns of the log to names that the remedy lists."""

    def follow(attempt: Attempt) -> None:
        assert all(name in attempt.remedy for name in names)
        rows = [json.loads(line) for line in (attempt.folder / "log.jsonl").read_text().splitlines()]
        (attempt.folder / "log.jsonl").write_text(lines(*(dict(zip(names, row.values(), strict=True)) for row in rows)))

    return follow


def certify_each(attempt: Attempt) -> None:
    """Certify the first of the judges, then the other."""
    assert "Certify one after the other" in attempt.remedy
    assert main(["certify", attempt.arguments.pop(1)]) == 3


PAIRS = [
    Case(
        site="tasks/certify/verdict_log.py:read_verdicts",
        command=READ,
        says="no reply holds a verdict",
        follow=write("one of these letters in place of each reply", "log.jsonl", lines({**PAIR, "reply": "A"})),
        files={"log.jsonl": lines({**PAIR, "reply": "Hm.", "verdict": "A"})},
    ),
    Case(
        site="tasks/certify/verdict_log.py:read_verdicts",
        command=READ,
        says="no reply holds a verdict",
        follow=write("one of these letters", "log.jsonl", lines({"id": 1, **dict.fromkeys(WIDE, "A")})),
        files={"log.jsonl": lines({"id": 1, **dict.fromkeys(WIDE, "Hm.")})},
    ),
    Case(
        site="tasks/certify/verdict_log.py:_yield_verdicts",
        command=READ,
        says="row 2, column first: no value",
        follow=write("Fill it in", "log.jsonl", lines(PAIR, SWAPPED)),
        files={"log.jsonl": lines(PAIR, {**SWAPPED, "first": ""})},
    ),
    Case(
        site="tasks/certify/verdict_log.py:_yield_verdicts",
        command=READ,
        says="row 2, column pair: no value",
        follow=write("leave the row out", "log.jsonl", lines(PAIR)),
        files={"log.jsonl": lines(PAIR, {**SWAPPED, "pair": None})},
    ),
    Case(
        site="tasks/certify/verdict_log.py:_read_label",
        command=READ,
        says="column label: the label maybe",
        follow=write("Write the answer's name", "log.jsonl", lines({**PAIR, "label": "gpt-4."})),
        files={"log.jsonl": lines({**PAIR, "label": "maybe"})},
    ),
    Case(
        site="tasks/certify/verdict_log.py:_share_labels",
        command=READ,
        says="the labels gpt-4. and b of one pair",
        follow=write(
            "the same answer's name in all its rows",
            "log.jsonl",
            lines(*({**row, "label": "b"} for row in (PAIR, SWAPPED))),
        ),
        files={"log.jsonl": lines(*({**row, "label": "first"} for row in (PAIR, SWAPPED)))},
    ),
    Case(
        site="tasks/certify/verdict_log.py:find_columns",
        command=READ,
        says="columns pair, one, two, reply; expected first and second, too",
        follow=rename_columns("pair", "first", "second", "reply"),
        files={"log.jsonl": lines(dict(zip(("pair", "one", "two", "reply"), PAIR.values(), strict=True)))},
    ),
    Case(
        site="tasks/certify/verdict_log.py:find_columns",
        command=READ,
        says="columns said, right; expected pair",
        follow=rename_columns("verdict", "label"),
        files={"log.jsonl": lines({"said": "pass", "right": 1})},
    ),
    Case(
        site="tasks/certify/verdict_log.py:read_rows",
        command="certify log.txt",
        says="a file that ends in .txt",
        follow=change("JSON lines", "log.txt", "log.jsonl"),
        files={"log.txt": lines(PAIR), "log.jsonl": lines(PAIR)},
    ),
    Case(
        site="tasks/certify/verdict_log.py:read_rows",
        command=READ,
        says="row 2: invalid JSON",
        follow=write("Correct that row", "log.jsonl", lines(PAIR, SWAPPED)),
        files={"log.jsonl": lines(PAIR) + "{\n"},
    ),
]

GOOD = {"judge": "j", "verdict": "pass", "label": 1}
BAD = {"judge": "j", "verdict": "fail", "label": 0}

SINGLES = [
    Case(
        site="tasks/certify/single_answers.py:read_single_answers",
        command=READ,
        says="judge j: no verdict that can be read",
        follow=write("at least one into the column verdict", "log.jsonl", lines({"score": "Hm.", **GOOD})),
        files={"log.jsonl": lines({"judge": "j", "score": "Hm.", "label": 1})},
    ),
    Case(
        site="tasks/certify/single_answers.py:read_single_answers",
        command=READ,
        says="judge j: no label that can be read",
        follow=write("at least one into the column label", "log.jsonl", lines({**GOOD, "gold": ""}, BAD)),
        files={"log.jsonl": lines({"judge": "j", "verdict": "pass", "gold": ""}, {**BAD, "label": None})},
    ),
    Case(
        site="tasks/certify/single_answers.py:_parse_source",
        command=READ,
        says="the label 5",
        follow=write("Write 1 for a reply that people pass", "log.jsonl", lines(GOOD, BAD)),
        files={"log.jsonl": lines({**GOOD, "label": 5}, BAD)},
    ),
    Case(
        site="tasks/certify/single_answers.py:_parse_source",
        command="certify words.jsonl scores.jsonl",
        says="the verdicts pass and 7 of judge j",
        follow=write("one kind of verdict for each judge", "scores.jsonl", lines({**GOOD, "judge": "k", "verdict": 7})),
        files={"words.jsonl": lines(GOOD, BAD), "scores.jsonl": lines({**GOOD, "verdict": 7})},
    ),
    Case(
        site="flows/cli/certify.py:_is_recorded",
        command="certify log.jsonl embedded --set tests.zzz=1",
        says="2 judges",
        follow=certify_each,
        files={"log.jsonl": lines(PAIR)},
        leads_to="zzz",
    ),
]

TRIAL = {"task": "t", "trial": 1, "passed": 1}

TRIALS = [
    Case(
        site="tasks/certify/trial_log.py:read_trials",
        command=READ,
        says="trial 1 of task t a second time",
        follow=write("several agents in a column agent", "log.jsonl", lines(TRIAL, {**TRIAL, "agent": "b"})),
        files={"log.jsonl": lines(TRIAL, TRIAL)},
    ),
    Case(
        site="tasks/certify/trial_log.py:read_trials",
        command=READ,
        says="no trial of log has a reward",
        follow=write("trials that were scored", "log.jsonl", lines(TRIAL)),
        files={"log.jsonl": lines({**TRIAL, "passed": None})},
    ),
    Case(
        site="tasks/certify/trial_log.py:_read_outcome",
        command=READ,
        says="row 1, column passed: the outcome 80",
        follow=write("Write 1 for a trial that passed", "log.jsonl", lines(TRIAL)),
        files={"log.jsonl": lines({**TRIAL, "passed": 80})},
    ),
    Case(
        site="tasks/certify/agents.py:check_gates",
        command=f"{READ} --min-pass-hat 3=25",
        says="the gate 3=25",
        follow=change("Write 3=0.25", "3=25", "3=0.25"),
        files={"log.jsonl": lines(TRIAL)},
    ),
    Case(
        site="flows/cli/certify.py:_read_gates",
        command=f"{READ} --min-pass-hat 3:0.25",
        says="3:0.25",
        follow=change("Write --min-pass-hat 3=0.25", "3:0.25", "3=0.25"),
        files={"log.jsonl": lines(TRIAL)},
    ),
]


@pytest.mark.parametrize("case", [*PAIRS, *SINGLES, *TRIALS], ids=lambda case: f"{case.site}: {case.says}"[-60:])
def test_remedy_leads_further(
    case: Case, in_tmp: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    follow_case(case, in_tmp, monkeypatch, capsys)
