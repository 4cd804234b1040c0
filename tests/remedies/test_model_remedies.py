"""Remedies of models that cannot be used get a person further."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from remedies.following import Attempt, Case, Follow, add, change, drop, export, follow_case, set_key, take
from tiny_model import save_tiny_model

OPENAI = "validate --model openai/any --test add_toxic_words --limit 1 --set model_args.base_url="
NEGATION, ORDER_BIAS = "tests.sensitivity.add_negation", "tests.factuality.order_bias"
BOT = "def answer(prompt):\n    return 'It rained.'\n"


def save_model(named: str) -> Follow:
    """Save a model in the folder that the command names."""

    def follow(attempt: Attempt) -> None:
        assert named in attempt.remedy
        save_tiny_model(attempt.folder / "model")

    return follow


MODELS = [
    Case(
        site="tasks/config/model_spec.py:find_provider_name",
        command="validate --model opnai/x --test add_toxic_words --limit 1",
        says="unknown provider 'opnai'",
        follow=take("opnai"),
        leads_to="OPENAI_API_KEY is not set",
    ),
    Case(
        site="tasks/config/model_spec.py:find_provider_name",
        command="validate --model llama3:8b --test add_toxic_words --limit 1",
        says="unknown provider 'llama3:8b'",
        follow=take("llama3:8b", r"or '(\S+)' with model_args"),
        leads_to="OPENAI_API_KEY is not set",
    ),
    Case(
        site="tasks/infer/openai/key.py:read_key",
        command=f"{OPENAI}{{url}}/v1 --set model_args.api_key_env=MY_KEY",
        says="environment variable MY_KEY is not set",
        follow=export(r"export (MY_KEY)=", "sk-1"),
        variables={"CONTRAPOSE_KEY_HOSTS": "MY_KEY=127.0.0.1"},
    ),
    Case(
        site="tasks/infer/openai/key.py:_refuse_foreign",
        command=f"{OPENAI}{{url}}/v1 --set model_args.api_key_env=MY_KEY",
        says="is no key for",
        follow=export(r"set (CONTRAPOSE_KEY_HOSTS)=(\S+) where"),
        variables={"MY_KEY": "sk-1"},
    ),
    Case(
        site="tasks/infer/openai/key.py:_refuse_foreign",
        command=f"{OPENAI}{{url}}/v1",
        says="is no key for",
        follow=set_key(r"set (model_args.api_key_env)=(\w+)"),
        variables={"OPENAI_API_KEY": "sk-1"},
    ),
    Case(
        site="tasks/infer/openai/key.py:_find_key_place",
        command=f"{OPENAI}{{url}}/v1 --set model_args.api_key_env=MY_KEY --set model_args.api_key_block=b",
        says="api_key_env and api_key_block are both set",
        follow=drop("Remove one of them", "model_args.api_key_block=b"),
        leads_to="environment variable MY_KEY is not set",
        variables={"CONTRAPOSE_KEY_HOSTS": "MY_KEY=127.0.0.1"},
    ),
    Case(
        site="tasks/infer/openai/connection.py:list_served_models",
        command=f"{OPENAI}http://127.0.0.1:{{closed}}/v1",
        says="127.0.0.1:{closed}",
        follow=change("model_args.base_url", "{closed}", "{open}"),
    ),
    Case(
        site="tasks/infer/openai/connection.py:_explain_wrong_address",
        command=f"{OPENAI}{{url}}",
        says="the server has no /chat/completions there",
        follow=take("{url}", r"Did you mean (\S+)\?"),
    ),
    Case(
        site="tasks/infer/budget.py:refuse_unpriced",
        command=f"{OPENAI}{{url}}/v1 --max-cost 1",
        says="what the model costs is not known",
        follow=add(r"Set (price) to", placeholder="price", value="--set 'price={input: 1, output: 2}'"),
    ),
    Case(
        site="tasks/infer/budget.py:refuse_unpriced",
        command=f"{OPENAI}{{url}}/v1 --max-cost 1",
        says="what the model costs is not known",
        follow=change("max_tokens", "--max-cost", "--max-tokens"),
    ),
    Case(
        site="tasks/probes/answers/settings.py:choose_scorer",
        command=f"validate --model openai/any --test add_negation --limit 1 --set model_args.base_url={{url}}/v1 "
        f"--set {NEGATION}.scorer=loss",
        says="scorer 'loss' with a provider",
        follow=take("loss", r"Use scorer '(embedding)'"),
    ),
    Case(
        site="tasks/probes/prompt_settings.py:require_likelihoods",
        command="validate --model app/bot:answer --test order_bias --limit 1 "
        "--set tests.factuality.order_bias.read_with=likelihood",
        says="this model gives no log-likelihoods",
        follow=set_key(r"Set (read_with): (auto)", key="tests.factuality.order_bias.read_with"),
        files={"bot.py": BOT},
    ),
    Case(
        site="tasks/infer/app/transports.py:start",
        command="validate --model app/bot.py:answer --test add_toxic_words --limit 1",
        says="No module named 'bot.py'",
        follow=take("app/bot.py:answer"),
        files={"bot.py": BOT},
    ),
    Case(
        site="tasks/infer/app/transports.py:start",
        command="validate --model app/bot:nope --test add_toxic_words --limit 1",
        says="has no attribute 'nope'",
        follow=change("Correct its name", "bot:nope", "bot:answer"),
        files={"bot.py": BOT},
    ),
    Case(
        site="tasks/infer/local/machine.py:_ask_torch",
        command="validate --model hf/model --test add_toxic_words --limit 1 --set model_args.device=cuda:99",
        says="device 'cuda:99' is not usable here",
        follow=drop("leave it out", "model_args.device=cuda:99"),
        prepare=lambda folder: save_tiny_model(folder / "model"),
    ),
    Case(
        site="tasks/infer/local/machine.py:_ask_torch",
        command="validate --model hf/model --test add_toxic_words --limit 1 --set model_args.dtype=int3",
        says="unknown dtype 'int3'",
        follow=change("Correct model_args.dtype", "int3", "float32"),
        prepare=lambda folder: save_tiny_model(folder / "model"),
    ),
    Case(
        site="tasks/infer/local/huggingface.py:hash_folder",
        command="validate --model hf/model --test add_toxic_words --limit 1",
        says="without weights",
        follow=save_model("save_pretrained(…, safe_serialization=True)"),
        files={"model/config.json": "{}"},
    ),
]


@pytest.fixture(scope="module")
def closed() -> str:
    """A port where nothing listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return str(free.getsockname()[1])


@pytest.mark.parametrize("case", MODELS, ids=lambda case: f"{case.site}: {case.says}"[-60:])
def test_remedy_leads_further(
    case: Case,
    endpoint: int,
    closed: str,
    in_tmp: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    values = {"url": f"http://127.0.0.1:{endpoint}", "open": str(endpoint), "closed": closed}
    follow_case(case, in_tmp, monkeypatch, capsys, values)
