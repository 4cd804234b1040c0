"""Provider `hf`, and the loading of models with transformers; a model cannot change during a run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from importlib import metadata
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar

from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.core.errors import ModelError, require_package
from contrapose.tasks.core.model_files import check_model_files, existing_folder, hash_files
from contrapose.tasks.core.process_state import QUIET_LOADING
from contrapose.tasks.core.provider import Argument, Check
from contrapose.tasks.infer.base import LocalProvider, refuse_unknown
from contrapose.tasks.infer.keys import refuse_replaced_model
from contrapose.tasks.infer.local.chat_template import (
    ARGUMENTS,
    IN_WORDS,
    VARIABLES,
    ChatTemplate,
    is_template_used,
    read_own_template,
    refuse_unused_template,
)
from contrapose.tasks.infer.local.machine import choose_placement, find_batch_limit, use_all_cores
from contrapose.tasks.infer.local.prompting import Encoder
from contrapose.tasks.infer.local.transformer import THOUGHT_ROOM, TransformerModel
from contrapose.tasks.language.replies.spoken import find_thought_marks

WEIGHTS = "*.safetensors"
ENGINES = {"cuda": "6", "cpu bfloat16": "7"}
ENGINE = "4"
"""Raised whenever the same model would be given other figures or replies by this package, there or elsewhere."""


CLOSED_THOUGHT = "The chat template opens a thought: for log-probabilities of letters it is {how}."
OPEN_THOUGHT = (
    "The chat template opens a thought and cannot close it: written replies are read, with up to {room:,} tokens "
    "for the thought."
)


class RunsHere(LocalProvider):
    """Base class of providers whose models run on this machine with transformers."""

    knows_weights: ClassVar[bool] = True
    extra: ClassVar[str] = "local"
    """The extra that installs what such a model needs."""
    arguments: ClassVar[Mapping[str, Argument]] = {
        "revision": Argument(type="text", description="Branch, tag or commit of a model on the hub."),
        "dtype": Argument(type="text", description="Number type: float32, bfloat16, float16.", default="auto"),
        "device": Argument(type="text", description="Where it runs: cpu, cuda, cuda:1, mps.", default="auto"),
        **ARGUMENTS,
    }

    def require_libraries(self, spec: ModelSpec) -> None:
        """Raise ConfigError if torch or transformers is not installed."""
        require_package("torch", "transformers", extra=self.extra, where=spec.id)

    def describe(self, identity: Mapping[str, str]) -> list[str]:
        """Return a remark about the thought that the chat template opens, if any."""
        note = identity.get("thought")
        if note is None:
            return []
        if note == IN_WORDS:
            return [OPEN_THOUGHT.format(room=THOUGHT_ROOM)]
        return [CLOSED_THOUGHT.format(how=note)]


class HuggingFace(RunsHere):
    """Provider `hf`: a model in a local folder, or with a hub id that transformers downloads."""

    def check(self, spec: ModelSpec) -> Check:
        """Check whether the model is a folder or in the hub's cache; raise ConfigError if a library is missing."""
        self.require_libraries(spec)
        return check_model_files(spec.name, setting="model", revision=spec.args.get("revision"))

    def identity(self, spec: ModelSpec) -> Mapping[str, str]:
        """Return the hash of a folder's files, or the commit of a hub id, with engine, device and dtype."""
        refuse_unknown(spec, self.arguments)
        self.require_libraries(spec)
        folder = existing_folder(spec.name)
        revision = hash_folder(folder) if folder else find_hub_commit(spec)
        pinned = pin_revision(spec, revision)
        chat = identify_template(
            pinned,
            lambda: read_model_template(pinned, folder or Path(spec.name)),
            lambda: load_tokenizer(str(folder or spec.name), pinned),
        )
        return {"revision": revision, **chat, **engine(spec)}

    def open(self, spec: ModelSpec) -> TransformerModel:
        """Load the model with its own tokenizer."""
        folder, chosen = existing_folder(spec.name), pin_revision(spec)
        opened = load_model(str(folder or spec.name), chosen)
        if folder and opened.model.device.type == "cpu":
            # transformers maps the file of the weights: without a copy, a change of the file would change them.
            for tensor in chain(opened.model.parameters(), opened.model.buffers()):
                tensor.data = tensor.data.clone()
        if spec.identity:
            # Only after loading: later changes of the files change no answer.
            refuse_replaced_model(self.identity(chosen), spec.identity, model=spec.id)
        return opened


def pin_revision(spec: ModelSpec, revision: str | None = None) -> ModelSpec:
    """Return the specification fixed to one commit of the hub, because a branch may move."""
    commit = revision or spec.identity.get("revision")
    if commit is None or existing_folder(spec.name):
        return spec
    return spec.model_copy(update={"args": {**spec.args, "revision": commit}})


def hash_folder(folder: Path) -> str:
    """Return one hash of all files in a model folder, because a retrained model there is another model."""
    if not (folder / "config.json").is_file() or not any(folder.glob(WEIGHTS)):
        raise ModelError(
            "model folder without weights" if (folder / "config.json").is_file() else "not a model folder",
            expected=f"config.json and {WEIGHTS} (pickled weights are never loaded)",
            remedy="Save the model with save_pretrained(…, safe_serialization=True), or correct the path.",
            where=str(folder),
        )
    try:
        return hash_files(folder, (path for path in folder.iterdir() if path.is_file()))
    except FileNotFoundError as error:
        raise ModelError(
            "a file of the model vanished while it was read",
            expected="a model folder that does not change",
            remedy="Wait until the model is saved, and start again.",
            where=str(error.filename),
        ) from error


def find_hub_commit(spec: ModelSpec) -> str:
    """Return the current commit of a hub id and revision, from the hub or from the local hub cache."""
    from transformers.utils.hub import cached_file

    config, why = None, "no such folder, and not a hub id either"
    if 1 <= spec.name.count("/") + 1 <= 2 and spec.name:
        try:
            config = cached_file(spec.name, "config.json", revision=spec.args.get("revision"))
        except (OSError, ValueError) as error:
            why = f"no such folder, and the hub gave nothing ({type(error).__name__})"
    if config is None:
        raise ModelError(
            why,
            expected="a folder with config.json and *.safetensors, or a hub id <org>/<name> that can be reached",
            remedy="Correct the path or the id, or download the model first.",
            where=spec.id,
        )
    # The hub cache keeps each revision in a folder named by its commit.
    return Path(str(config)).parent.name


def engine(spec: ModelSpec) -> dict[str, str]:
    """Return the versions of this engine and its libraries, with the device and dtype of this machine."""
    where = choose_placement(spec)
    device = where["device"].partition(":")[0]
    number = ENGINES.get(device) or ENGINES.get(f"{device} {where['dtype']}", ENGINE)
    return {"engine": number, **{name: metadata.version(name) for name in ("transformers", "torch")}, **where}


def read_model_template(spec: ModelSpec, folder: Path) -> str:
    """Return the model's own chat template from its files; empty if it has none."""
    from transformers.utils.hub import cached_file

    def read_file(name: str) -> str | None:
        if folder.is_dir():
            path: str | None = str(folder / name) if (folder / name).is_file() else None
        else:
            missing = {"_raise_exceptions_for_missing_entries": False, "_raise_exceptions_for_connection_errors": False}
            path = cached_file(spec.name, name, revision=spec.args.get("revision"), **missing)
        return Path(path).read_text(encoding="utf-8") if path else None

    own, settings = read_file("chat_template.jinja"), read_file("tokenizer_config.json")
    text = own or (json.dumps(json.loads(settings).get("chat_template") or "") if settings else "")
    return "" if text == '""' else text


def identify_template(spec: ModelSpec, read: Callable[[], str], tokenizer: Callable[[], Any]) -> dict[str, str]:
    """Return a short hash of the chat template, its variables, and how a thought is closed; empty if none is used.

    `read` returns the model's own template, and `tokenizer` loads its tokenizer, which only some templates need.
    """
    if spec.apply_chat_template is False:
        refuse_unused_template(spec)
        return {}
    text, variables = read_own_template(spec) or read(), spec.args.get(VARIABLES)
    is_template_used(spec, text)
    identity = {"chat_template": hashlib.sha256(text.encode()).hexdigest()[:16]} if text else {}
    if not variables and not any(mark["opens"] for mark in find_thought_marks(text)):
        return identity
    template = ChatTemplate(tokenizer(), spec)
    if template.variables:
        identity[VARIABLES] = json.dumps(template.variables, sort_keys=True, default=str)
    return {**identity, **({"thought": template.note} if template.note else {})}


def load_tokenizer(source: str, spec: ModelSpec, *, tokenizer_type: str = "AutoTokenizer") -> Any:
    """Return the tokenizer of a folder or hub id; no code that comes with a model runs."""
    import transformers

    try:
        with QUIET_LOADING.needed():
            return getattr(transformers, tokenizer_type).from_pretrained(
                source, revision=spec.args.get("revision"), trust_remote_code=False
            )
    except Exception as error:  # Damaged files make the libraries raise anything.
        raise _make_loading_error(spec, error) from error


def _make_loading_error(spec: ModelSpec, error: Exception) -> ModelError:
    return ModelError(
        f"transformers cannot load it ({type(error).__name__}: {str(error)[:200]})",
        expected="a causal language model with its tokenizer, in safetensors",
        remedy="Save or download all its files again, or name another model in --model.",
        where=spec.id,
    )


def load_model(source: str, spec: ModelSpec, *, tokenizer_type: str = "AutoTokenizer") -> TransformerModel:
    """Open a folder or hub id with transformers; never runs code that comes with a model."""
    import torch
    import transformers

    where = choose_placement(spec)
    use_all_cores()
    tokenizer = load_tokenizer(source, spec, tokenizer_type=tokenizer_type)
    try:
        with QUIET_LOADING.needed():
            loaded: Any = transformers.AutoModelForCausalLM.from_pretrained(
                source,
                dtype=getattr(torch, where["dtype"]),
                use_safetensors=True,
                revision=spec.args.get("revision"),
                trust_remote_code=False,
            )
    except Exception as error:  # Damaged files make the libraries raise anything.
        raise _make_loading_error(spec, error) from error
    # It comes ready for inference, without dropout.
    model = loaded.to(where["device"])
    device = torch.cuda.get_device_name(where["device"]) if where["device"].startswith("cuda") else where["device"]
    name = " ".join([spec.id, str(spec.args.get("revision") or "main"), device, where["dtype"]])
    return TransformerModel(
        model=model,
        encoder=Encoder(tokenizer, spec),
        generation=spec.generation,
        limit=find_batch_limit(spec.batch_size, model, name=name),
    )
