"""Remedies of wrong suites and settings get a person further."""

from __future__ import annotations

from pathlib import Path

import pytest
from remedies.following import (
    Case,
    add,
    change,
    drop,
    export,
    follow_case,
    put_in_prompt,
    run_first,
    set_key,
    take,
    write,
)

TESTS = "tests:\n  sensitivity:\n    add_negation: "
MOCK, CHECK = (f"{verb} --model mock --test add_negation --limit 3" for verb in ("preview", "validate"))
"""What a preview finds, and what only a check does."""
NEGATION, ORDER_BIAS = "tests.sensitivity.add_negation", "tests.factuality.order_bias"
BOT = "def answer(prompt):\n    return 'It rained.'\n"


SUITES = [
    Case(
        site="tasks/config/suite_files.py:load_config",
        command="preview --model mock --suite quickstrat --limit 1",
        says="unknown suite 'quickstrat'",
        follow=take("quickstrat"),
    ),
    Case(
        site="tasks/config/suite_files.py:read_values",
        command="preview --model mock --suite nope.yaml --limit 1",
        says="nope.yaml: cannot read the file",
        follow=take("nope.yaml", r"bundled suite: .*(quickstart)"),
    ),
    Case(
        site="tasks/config/suite_files.py:_yaml_error",
        command="preview --suite suite.yaml",
        says="suite.yaml, line 2, column 1: not YAML",
        follow=write("Correct that line", "suite.yaml", "model: mock\nlimit: 1\ntests: {add_toxic_words: {}}\n"),
        files={"suite.yaml": "model: mock\n\ttests: 1\n"},
    ),
    Case(
        site="tasks/config/suite_files.py:_parse",
        command="preview --model mock --suite suite.yaml",
        says="suite.yaml: the file is empty",
        follow=run_first(r"`contrapose (init --out FILE --force)`", placeholder="FILE", value="suite.yaml"),
        files={"suite.yaml": ""},
    ),
    Case(
        site="tasks/config/wrong_values.py:_to_error",
        command="preview --suite suite.yaml",
        says="unknown key 'modle'",
        follow=take("modle"),
        files={"suite.yaml": "modle: mock\nlimit: 1\ntests: {add_toxic_words: {}}\n"},
    ),
    Case(
        site="tasks/config/wrong_values.py:_to_error",
        command="preview --suite suite.yaml",
        says="unknown key 'treshold'",
        follow=take("treshold"),
        files={"suite.yaml": f"model: mock\nlimit: 3\n{TESTS}{{treshold: [-0.1, 0.1]}}\n"},
    ),
    Case(
        site="tasks/config/wrong_values.py:_to_error",
        command=f"{MOCK} --set data.layout=squad",
        says="settings of data without a source",
        follow=add(r"(--data)", placeholder="--data", value="--data negation"),
        leads_to="the columns do not match layout 'squad'",
    ),
    Case(
        site="tasks/config/wrong_values.py:_to_error",
        command="validate --model openai/x --set model_args.api_key=sk-1",
        says="model_args.api_key looks like a secret",
        follow=drop("Remove api_key", "model_args.api_key=sk-1"),
        leads_to="OPENAI_API_KEY is not set",
    ),
    Case(
        site="tasks/config/wrong_values.py:_to_error",
        command=f"{MOCK} --set output=s3://me:sk-1@host/x",
        says="output holds a password",
        follow=drop("Remove it", "output=s3://me:sk-1@host/x"),
    ),
    Case(
        site="tasks/config/wrong_values.py:_to_error",
        command=f"{MOCK} --set 'reader_args={{revision: x}}'",
        says="reader_args or reader_price is set",
        follow=add(r"(--reader MODEL)", placeholder="MODEL", value="mock"),
    ),
    Case(
        site="tasks/config/wrong_values.py:_to_error",
        command=f"{MOCK} --stop early --set tests.defaults.gate=rate",
        says="stop: early needs gate: interval",
        follow=add(r"Set (\S+=interval)", placeholder="tests", value="--set tests"),
    ),
    Case(
        site="tasks/config/wrong_values.py:_to_error",
        command=f"{MOCK} --stop early --set batch_api=true",
        says="stop is early, and batch_api is set",
        follow=add(r"(batch_api=false)", placeholder="batch", value="--set batch"),
    ),
    Case(
        site="tasks/config/wrong_values.py:_to_error",
        command=f"{MOCK} --set '{NEGATION}.prompt=Say it'",
        says="a prompt without {{ text }}",
        follow=put_in_prompt("Say it"),
        leads_to="the prompt does not show {{ options }}",
    ),
    Case(
        site="tasks/config/suite_files.py:with_prompt",
        command="preview --suite suite.yaml",
        says="prompt and prompt_file are both there",
        follow=change("Leave one out", "prompt: x, ", ""),
        files={
            "suite.yaml": f"model: mock\nlimit: 3\n{TESTS}{{prompt: x, prompt_file: p.txt}}\n",
            "p.txt": "{{ text }} {{ options }}",
        },
    ),
    Case(
        site="tasks/config/suite_files.py:_read_template",
        command="preview --suite suite.yaml",
        says="no.txt cannot be read",
        follow=change("Correct the path", "no.txt", "p.txt"),
        files={
            "suite.yaml": f"model: mock\nlimit: 3\n{TESTS}{{prompt_file: no.txt}}\n",
            "p.txt": "{{ text }} {{ options }}",
        },
    ),
    Case(
        site="tasks/config/plan.py:plans",
        command="preview --suite suite.yaml --limit 3",
        says="no test is selected",
        follow=add(r"(--test)", placeholder="--test", value="--test add_negation"),
        files={"suite.yaml": "model: mock\ntests: {defaults: {min_pass_rate: 0.5}}\n"},
    ),
    Case(
        site="tasks/config/plan.py:_refuse_equal_replies",
        command=f"{MOCK} --set repeats=3",
        says="1 for a local model at temperature 0",
        follow=set_key(r"Set (repeats) to (1)"),
    ),
    Case(
        site="tasks/config/plan.py:_refuse_equal_replies",
        command=f"{MOCK} --set repeats=3",
        says="1 for a local model at temperature 0",
        follow=add(r"(gen_kwargs.temperature) above 0", placeholder="gen", value="--set gen"),
        leads_to="KEY=VALUE",
    ),
    Case(
        site="tasks/config/plan.py:_make_plan",
        command=f"{CHECK} --set {NEGATION}.threshold=auto",
        says="threshold: auto with a limit of 3",
        follow=add(r"Set the (limit to \d+)", placeholder="limit to", value="--limit"),
    ),
    Case(
        site="tasks/config/plan.py:_make_plan",
        command=f"{CHECK} --set {NEGATION}.threshold=auto",
        says="threshold: auto with a limit of 3",
        follow=set_key(r"set (threshold) to a pair, such as (\[[^]]+\])", key=f"{NEGATION}.threshold"),
    ),
    Case(
        site="tasks/config/plan.py:_resolve_reading",
        command=f"preview --model app/bot:answer --test order_bias --limit 3 --set {ORDER_BIAS}.read_with=ask",
        says="read_with: ask needs a reader model",
        follow=set_key(r"set (read_with): (reply)", key="tests.factuality.order_bias.read_with"),
        files={"bot.py": BOT},
    ),
    Case(
        site="tasks/config/plan.py:_resolve_reading",
        command=f"preview --model app/bot:answer --test order_bias --limit 3 --set {ORDER_BIAS}.read_with=ask",
        says="read_with: ask needs a reader model",
        follow=add(r"(--reader)", placeholder="--reader", value="--reader mock"),
        files={"bot.py": BOT},
    ),
    Case(
        site="tasks/core/registry.py:find",
        command="preview --model mock --test add_negatoin --limit 1",
        says="unknown probe 'add_negatoin'",
        follow=take("add_negatoin"),
    ),
    Case(
        site="flows/orchestration/options.py:read_overrides",
        command=f"{MOCK} --set seed",
        says="--set 'seed'",
        follow=take("seed", r"--set (\S+=\d+)"),
    ),
    Case(
        site="flows/orchestration/workers.py:__init__",
        command=f"{CHECK} --set runner_args.address=tcp://x",
        says="runner_args: address",
        follow=set_key(r"Set (runner) to (dask)"),
    ),
    Case(
        site="tasks/config/permissions.py:_make_refusal",
        command="preview --suite suite.yaml",
        says="/no/rows.jsonl may not be read",
        follow=export(r"set (CONTRAPOSE_DATA)=(\S+)"),
        files={"suite.yaml": "model: mock\ndata: /no/rows.jsonl\ntests: {add_negation: {}}\n"},
        leads_to="/no/rows.jsonl: there is no such file",
    ),
    Case(
        site="tasks/config/permissions.py:_make_refusal",
        command="preview --suite suite.yaml",
        says="/no/rows.jsonl may not be read",
        follow=add(r"\((--data)\)", placeholder="--data", value="--data /no/rows.jsonl"),
        files={"suite.yaml": "model: mock\ndata: /no/rows.jsonl\ntests: {add_negation: {}}\n"},
        leads_to="/no/rows.jsonl: there is no such file",
    ),
    Case(
        site="tasks/config/permissions.py:_make_refusal",
        command="preview --suite suite.yaml --limit 1",
        says="/no/runs may not be written to",
        follow=export(r"set (CONTRAPOSE_OUTPUT)=(\S+)"),
        files={"suite.yaml": "model: mock\noutput: /no/runs\ntests: {add_toxic_words: {}}\n"},
    ),
    Case(
        site="tasks/config/permissions.py:refuse_app",
        command="validate --suite suite.yaml --limit 1",
        says="other:answer may not be run here",
        follow=export(r"Set (CONTRAPOSE_APPS)=(\S+)"),
        files={"suite.yaml": "model: app/other:answer\ntests: {add_toxic_words: {}}\n", "other.py": BOT},
    ),
    Case(
        site="tasks/validate/suites.py:refuse",
        command=f"{CHECK} --expectations e.json",
        says="e.json: no expectations",
        follow=drop("take it out", "e.json"),
        files={"e.json": "{}"},
    ),
    Case(
        site="tasks/probes/negation/second_opinion.py:_missing",
        command=f"{MOCK} --set {NEGATION}.second_opinion=spacy",
        says="spaCy is not installed",
        follow=set_key(r"set (second_opinion): (none)", key=f"{NEGATION}.second_opinion"),
    ),
    Case(
        site="tasks/probes/own_prompt.py:render_prompt",
        command=f"{MOCK} --set '{NEGATION}.prompt={{{{ text }}}} {{{{ options }}}}{{{{ text | upper(3) }}}}'",
        says="the template fails: TypeError",
        follow=change("Correct the template", "{{ text | upper(3) }}", ""),
    ),
    Case(
        site="tasks/probes/prompt_settings.py:pair",
        command=f"{MOCK} --set '{NEGATION}.prompt={{{{ options }}}} {{{{ text | first }}}}'",
        says="the prompt is the same before and after the change",
        follow=change("Remove the filter", " | first", ""),
    ),
    Case(
        site="tasks/probes/prompt_settings.py:refuse_hidden_parts",
        command=f"{MOCK} --set '{NEGATION}.prompt={{{{ text }}}}'",
        says="the prompt does not show {{ options }}",
        follow=put_in_prompt("{{ text }}"),
    ),
    Case(
        site="tasks/infer/base.py:refuse_unknown",
        command=f"{CHECK} --set model_args.replay=x",
        says="unknown argument 'replay'",
        follow=take("replay"),
    ),
    Case(
        site="tasks/infer/mock.py:identity",
        command=f"{CHECK} --set model_args.reply=yes",
        says="model_args.reply: True",
        follow=change("Write it in quotes", "reply=yes", 'reply="yes"'),
    ),
]


@pytest.mark.parametrize("case", SUITES, ids=lambda case: f"{case.site}: {case.says}"[-60:])
def test_remedy_leads_further(
    case: Case, in_tmp: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    follow_case(case, in_tmp, monkeypatch, capsys)
