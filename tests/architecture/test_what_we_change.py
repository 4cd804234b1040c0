"""What we change of other libraries, and what of theirs that is not public we rest on: each still as we take it.

A test that fails here names what a new version of a library has changed; docs/decisions/0058 says what rests on it.
"""

from __future__ import annotations

import ast
import http.client
import inspect
import logging
import socket
import sys
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

import pytest
from places import REPOSITORY

CHANGING = {
    "flows/cli/completion.py": {"parser._actions"},
    "flows/serve/prefect_app.py": {"actions.PrefectServerEventsAPIClient"},
    "tasks/infer/litellm.py": {"setattr(litellm"},
    "tasks/infer/local/attention.py": {"AttentionInterface.register"},
    "tasks/infer/local/fused.py": {"module.forward"},
    "tasks/infer/local/passing.py": {"cache.update", "layer.module.forward"},
    "tasks/infer/openai/connection.py": {"client._custom_headers", "self.client._make_status_error_from_response"},
    "tasks/promotion/webhook.py": {"connection._create_connection"},
}
"""By file, what is replaced or is not public."""


def test_each_change_lies_in_its_one_module() -> None:
    for file, names in CHANGING.items():
        text = (REPOSITORY / file).read_text("utf-8")
        assert [name for name in names if name not in text] == [], file


def _foreign(tree: ast.Module) -> set[str]:
    """Names that are imported from other packages than ours and Python's."""
    names = set[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {
                alias.asname or alias.name.partition(".")[0]
                for alias in node.names
                if alias.name.partition(".")[0] not in (*sys.stdlib_module_names, "contrapose")
            }
        elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] not in (
            *sys.stdlib_module_names,
            "contrapose",
        ):
            names |= {alias.asname or alias.name for alias in node.names}
    return names


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def test_nothing_else_of_a_library_is_replaced() -> None:
    replaced = {}
    for top in ("flows", "tasks"):
        for path in (REPOSITORY / top).rglob("*.py"):
            tree = ast.parse(path.read_text("utf-8"))
            foreign = _foreign(tree)
            targets = [
                target
                for node in ast.walk(tree)
                if isinstance(node, ast.Assign | ast.AugAssign | ast.Delete)
                for target in (node.targets if isinstance(node, ast.Assign | ast.Delete) else [node.target])
            ]
            set_by_name = [
                node.args[0]
                for node in ast.walk(tree)
                if isinstance(node, ast.Call) and ast.unparse(node.func) in ("setattr", "delattr") and node.args
            ]
            named = {
                ast.unparse(target)
                for target in [*(part for part in targets if isinstance(part, ast.Attribute)), *set_by_name]
                if _root(target) in foreign
            }
            if named:
                replaced[path.relative_to(REPOSITORY).as_posix()] = named
    assert replaced == {
        "flows/serve/prefect_app.py": {"actions.PrefectServerEventsAPIClient"},
        # Its documented settings; tests/infer/test_litellm.py fails when one is renamed.
        "tasks/infer/litellm.py": {"litellm"},
    }


PRIVATE = {"_attn_implementation", "_linear_pointwise"}
"""What is not public of transformers and torch, and has no public counterpart."""


def test_local_models_use_what_is_public_of_transformers_and_torch() -> None:
    ours, theirs = set[str](), set[str]()
    for path in (REPOSITORY / "tasks/infer/local").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Attribute) and node.attr.startswith("_") and not node.attr.startswith("__"):
                theirs.add(node.attr)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in PRIVATE:
                theirs.add(node.value)
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                ours.add(node.name)
            elif isinstance(node, ast.Attribute) and ast.unparse(node.value) == "self":
                ours.add(node.attr)
    assert theirs - ours - {"_replace"} == PRIVATE


def test_no_module_of_ours_stands_in_for_another() -> None:
    for top in ("flows", "tasks"):
        for path in (REPOSITORY / top).rglob("*.py"):
            assert not any(text in path.read_text("utf-8") for text in ("sys.modules[", "sys.modules.update")), path


def parameters(function: Any) -> list[str]:
    return list(inspect.signature(function).parameters)


def test_actions_of_prefects_server_ask_by_the_client_that_is_replaced() -> None:
    from prefect.server.events import actions
    from prefect.server.events.clients import PrefectServerEventsAPIClient

    assert actions.PrefectServerEventsAPIClient is PrefectServerEventsAPIClient  # type: ignore[attr-defined]
    assert "PrefectServerEventsAPIClient(" in inspect.getsource(actions)
    assert parameters(PrefectServerEventsAPIClient.__init__) == ["self", "additional_headers"]
    assert hasattr(PrefectServerEventsAPIClient()._http_client, "enable_csrf_support")


def test_prefects_sqlite_begins_transactions_where_ours_does() -> None:
    from prefect.server.database.configurations import AioSqliteConfiguration
    from prefect.server.database.dependencies import temporary_database_config

    assert parameters(AioSqliteConfiguration.begin_transaction) == ["self", "session", "with_for_update"]
    assert parameters(temporary_database_config) == ["tmp_database_config"]


def test_prefect_logs_where_it_is_filtered() -> None:
    # Loggers are set up as this is imported.
    from prefect import flow  # noqa: F401
    from prefect.logging.loggers import flow_run_logger, task_run_logger

    assert '"prefect.flow_runs"' in inspect.getsource(flow_run_logger)
    assert '"prefect.task_runs"' in inspect.getsource(task_run_logger)
    assert logging.getLogger("prefect._internal").propagate is False


def test_attention_of_transformers_is_found_by_the_name_that_is_taken() -> None:
    from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS, AttentionInterface

    assert "sdpa" in ALL_ATTENTION_FUNCTIONS
    first = parameters(import_module("transformers.integrations.sdpa_attention").sdpa_attention_forward)[:7]
    assert first == ["module", "query", "key", "value", "attention_mask", "dropout", "scaling"]
    assert callable(AttentionInterface.register)


def test_models_of_transformers_have_what_is_read_and_replaced() -> None:
    from transformers import DynamicCache, LlamaConfig, LlamaForCausalLM

    small = LlamaConfig(
        hidden_size=8, intermediate_size=8, num_hidden_layers=1, num_attention_heads=1, vocab_size=8, pad_token_id=0
    )
    model = LlamaForCausalLM(small)
    assert model.config.get_text_config()._attn_implementation == "sdpa"
    assert parameters(DynamicCache.update)[:4] == ["self", "key_states", "value_states", "layer_idx"]
    assert "forward" not in vars(model.model.norm)


def test_what_transformers_says_can_be_set_and_read() -> None:
    said: Any = import_module("transformers.utils.logging")
    for name in ("get_verbosity", "set_verbosity", "is_progress_bar_enabled", "disable_progress_bar"):
        assert callable(getattr(said, name))


def test_torch_has_the_product_with_activation() -> None:
    import torch

    schema = str(torch.ops.mkldnn._linear_pointwise.default._schema)
    assert schema.startswith("mkldnn::_linear_pointwise(Tensor X, Tensor W, Tensor? B, str attr")


def test_the_client_of_openai_keeps_headers_and_makes_errors_where_ours_looks() -> None:
    from openai import AsyncOpenAI

    client = AsyncOpenAI(api_key="none", base_url="http://127.0.0.1/v1")
    assert client._custom_headers == {}
    assert "self._custom_headers" in inspect.getsource(type(client).default_headers.fget)  # type: ignore[attr-defined]
    assert parameters(client._make_status_error_from_response) == ["response"]
    assert {"admin_api_key", "organization", "project"} <= vars(client).keys()


def test_great_expectations_sets_the_level_that_is_set_back() -> None:
    file = metadata.distribution("great-expectations").locate_file("great_expectations/data_context/types/base.py")
    assert "logger.setLevel(logging.INFO)" in Path(str(file)).read_text("utf-8")


def test_connections_of_python_are_made_by_what_is_replaced() -> None:
    connection: Any = http.client.HTTPConnection("localhost")
    assert connection._create_connection is socket.create_connection


def test_python_keeps_the_actions_of_a_parser() -> None:
    import argparse

    assert [type(action).__name__ for action in argparse.ArgumentParser()._actions] == ["_HelpAction"]


@pytest.mark.parametrize("name", ["PREFECT__SERVER_EPHEMERAL"])
def test_prefects_server_reads_the_variable_of_a_temporary_one(name: str) -> None:
    assert name in inspect.getsource(import_module("prefect.server.api.server"))
