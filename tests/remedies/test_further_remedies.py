"""Remedies of rarer errors get a person further: hosts, sheets, labels, applications, comparisons."""

from __future__ import annotations

from pathlib import Path

import openpyxl
import pytest
from finished import rows_from, write_run
from remedies.following import (
    Attempt,
    Case,
    add,
    change,
    follow_case,
    take,
    write,
)
from tiny_model import save_tiny_model

LINE = '{"text": "The sky is blue."}\n'
MOCK, CHECK = (f"{verb} --model mock --test add_negation --limit 3" for verb in ("preview", "validate"))
"""What a preview finds, and what only a check does."""
OPENAI = "validate --model openai/any --test add_toxic_words --limit 1 --set model_args.base_url={url}/v1"
BOT = "def answer(prompt):\n    return 'It rained.'\n"
ITEMS = "preview --model mock --test item_order --limit 2"


def write_book(folder: Path) -> None:
    """Write a workbook with two sheets of questions."""
    book = openpyxl.Workbook()
    for sheet in (book.active, book.create_sheet("more")):
        sheet.append(["text"])
        sheet.append(["The sky is blue."])
    book.active.title = "first"
    book.save(folder / "rows.xlsx")


def write_other_rows(folder: Path) -> None:
    """Write finished runs of two models on different rows."""
    write_run(folder / "runs" / "first", rows_from([True] * 20))
    write_run(folder / "runs" / "second", rows_from([True] * 20)[5:], model="embedded")


def evaluate_again(attempt: Attempt) -> None:
    """Write the second run again, on the same rows as the first."""
    assert "Evaluate both models on the same rows" in attempt.remedy
    write_run(attempt.folder / "runs" / "third", rows_from([True] * 20), model="embedded")
    attempt.replace("second", "third")


def name_host(attempt: Attempt) -> None:
    """Write a host in the form that the remedy shows."""
    assert "Write hosts such as models.example:8000" in attempt.remedy
    attempt.set_variable("CONTRAPOSE_KEY_HOSTS", attempt.filled("127.0.0.1:{port}"))


CASES = [
    Case(
        site="tasks/core/secrets.py:_refuse_value",
        command=f"{OPENAI} --set 'model_args.api_key_env=sk 1'",
        says="it is not a valid name",
        follow=take("sk 1", r"such as (MY_KEY)"),
        leads_to="MY_KEY",
    ),
    Case(
        site="tasks/config/hosts.py:read_rule",
        command=OPENAI,
        says="names no host",
        follow=name_host,
        variables={"CONTRAPOSE_KEY_HOSTS": "*.example/x?y", "OPENAI_API_KEY": "sk-1"},
    ),
    Case(
        site="tasks/validate/suites.py:read_suites",
        command=f"{CHECK} --expectations no.json",
        says="no.json: cannot read the file",
        follow=change("Correct the path", "no.json", "e.json"),
        files={"e.json": "{}"},
        leads_to="e.json: no expectations",
    ),
    Case(
        site="tasks/infer/base.py:argument_error",
        command=f"{CHECK} --set model_args.slip=2",
        says="model_args.slip",
        follow=change("Correct model_args.slip", "slip=2", "slip=0.5"),
    ),
    Case(
        site="tasks/infer/app/provider.py:find_kind",
        command="validate --model app/bot --test add_toxic_words --limit 1",
        says="'bot' is no application",
        follow=change("Correct the model", "app/bot", "app/bot:answer"),
        files={"bot.py": BOT},
    ),
    Case(
        site="tasks/infer/app/provider.py:_split_command",
        command="validate --model app/cmd: --test add_toxic_words --limit 1",
        says="cmd:",
        follow=change("Name one", "app/cmd:", "app/cmd:cat"),
    ),
    Case(
        site="tasks/infer/openai/settings.py:read_settings",
        command=f"{OPENAI} --model openai",
        says="openai/<model>",
        follow=add(r"Name (the model) as", placeholder="the model", value="--model openai/any"),
    ),
    Case(
        site="tasks/infer/local/huggingface.py:find_hub_commit",
        command="validate --model hf/nobody/nothing --test add_toxic_words --limit 1",
        says="hf/nobody/nothing",
        follow=change("Correct the path", "hf/nobody/nothing", "hf/model"),
        prepare=lambda folder: save_tiny_model(folder / "model"),
    ),
    Case(
        site="tasks/load/tabular.py:_choose_sheet",
        command=f"{MOCK} --data rows.xlsx --set data.sheet=mroe",
        says="mroe",
        follow=take("mroe"),
        prepare=write_book,
    ),
    Case(
        site="tasks/load/jsonl.py:_parse_document",
        command=f"{MOCK} --data rows.json",
        says="rows.json",
        follow=write("one list", "rows.json", f"[{LINE}]"),
        files={"rows.json": '{"text": "The sky is blue."}, {"text": "It is late."}'},
    ),
    Case(
        site="tasks/load/opening.py:decoding_error",
        command=f"{MOCK} --data rows.csv",
        says="rows.csv",
        follow=write("UTF-8", "rows.csv", "text\nThe café is open.\n"),
        files={"rows.csv": "text\nThe café is open.\n".encode("latin-1")},
    ),
    Case(
        site="tasks/probes/prompt_settings.py:refuse_unlabelled_options",
        command="preview --model mock --test option_order --limit 2 "
        "--set 'tests.factuality.option_order.labels=[one, two]' "
        "--set 'tests.factuality.option_order.prompt={{ text }} {{ options }}'",
        says="and 2 labels",
        follow=change("Add labels to the setting labels", "[one, two]", "[one, two, three, four, five]"),
    ),
    Case(
        site="tasks/probes/item_order.py:cases",
        command=f"{ITEMS} --set 'tests.robustness.item_order.prompt={{{{ text }}}} {{{{ items | length }}}}'",
        says="the prompt is the same in another order of the items",
        follow=change("Add {{ items }} to the template, without filters", "{{ items | length }}", "{{ items }}"),
    ),
    Case(
        site="tasks/compare/rows.py:refuse_other_cases",
        command="compare first second",
        says="expected the same cases",
        follow=evaluate_again,
        prepare=write_other_rows,
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.site}: {case.says}"[-60:])
def test_remedy_leads_further(
    case: Case,
    endpoint: int,
    in_tmp: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    follow_case(case, in_tmp, monkeypatch, capsys, {"url": f"http://127.0.0.1:{endpoint}", "port": str(endpoint)})
