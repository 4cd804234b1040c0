"""Provider `recorded`: replies that another tool, or an earlier run, wrote down. Nobody is asked."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal

from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.config.prices import FREE, Price
from contrapose.tasks.core.errors import ModelError
from contrapose.tasks.core.places import Place
from contrapose.tasks.core.provider import Argument, Check
from contrapose.tasks.core.questions import Answer, Question
from contrapose.tasks.core.records import Case, Completion, Likelihoods
from contrapose.tasks.infer.base import Broker, refuse_frame, refuse_unknown
from contrapose.tasks.infer.recordings import USUAL, Recording, ReplyKey, Selection, read_recording

SHOWN = 5
"""Prompts without a reply that an error names."""
PART = 1 << 20
BY_ID = (
    "recorded replies were found by the ids of their samples: that they were given to these very prompts is taken on "
    "trust"
)


class RecordedReplies:
    """Replies in a file, found by what was asked, or by the id of the sample and the side."""

    cases_per_task: ClassVar[int] = 5000
    local: ClassVar[bool] = True
    knows_weights: ClassVar[bool] = False
    concurrency: ClassVar[int] = 1
    answers_only: ClassVar[Literal[True]] = True
    arguments: ClassVar[Mapping[str, Argument]] = {
        "columns": Argument(
            type="mapping", description=f"What a row holds ({', '.join(USUAL)}) to the column that holds it."
        ),
        "where": Argument(type="mapping", description="Columns to the values that a row must have to be taken."),
        "requests": Argument(type="text", description="The file of requests that a file of batch results answers."),
        "revision": Argument(type="text", description="Which training gave the replies."),
    }

    def price(self, spec: ModelSpec) -> Price:
        """Nothing: whoever recorded them has paid."""
        return FREE

    def check(self, spec: ModelSpec) -> Check:
        """Whether the file can be read."""
        replies = read_recording(selection_of(spec)).replies
        return Check(state="ok", observed=f"{spec.id} holds {sum(map(len, replies.values())):,} replies")

    def likelihoods(self, spec: ModelSpec) -> Likelihoods:
        """None: replies are all that is recorded."""
        return "none"

    def identity(self, spec: ModelSpec) -> Mapping[str, str]:
        """The hash of the file, and what is taken of it."""
        refuse_unknown(spec, self.arguments)
        if spec.few_shot:
            refuse_frame(spec, "a recording has whatever stood before its prompts")
        selection = selection_of(spec)
        taken = {"columns": dict(selection.columns), "where": dict(selection.where)}
        training = {"training": str(spec.args["revision"])} if spec.args.get("revision") else {}
        digest = _sha256(selection)
        # What versions that knew no passages stored of such a file lacks them.
        passages = {"passages": "kept"} if _has_passages(_recording(selection, digest)) else {}
        return {
            "revision": digest,
            "dtype": "recorded",
            "device": "none",
            "taken": json.dumps(taken, sort_keys=True),
            **training,
            **passages,
        }

    def open(self, spec: ModelSpec) -> RecordedModel:
        """All replies of the file, in memory."""
        selection = selection_of(spec)
        return RecordedModel(_recording(selection, _sha256(selection)), spec.name)


class RecordedModel:
    """Replies by prompts, or by the cases that ask them."""

    def __init__(self, recording: Recording, name: str) -> None:
        self.recording, self.name = recording, name
        self._asked_by: dict[str, tuple[Case, str]] = {}

    def expect(self, cases: Sequence[Case]) -> None:
        """Note which case asks which prompt; where several do, the first."""
        for case in cases:
            for prompt, side in ((case.original_prompt, "original"), (case.perturbed_prompt, "perturbed")):
                if prompt is not None:
                    self._asked_by.setdefault(prompt, (case, side))

    def answer(self, questions: Sequence[Question], broker: Broker) -> None:
        """Put the recorded replies.

        Raises:
            ModelError: some questions have none.
        """
        taken = broker.take(questions)
        self.refuse_missing(taken)
        replies = {question: self._reply(question) for question in taken}
        if self.recording.by_id and taken:
            broker.warn("recorded", BY_ID)
        for kind, text in self.recording.remarks.items():
            broker.warn(kind, text)
        broker.put(
            [Answer(question=question, completion=reply, requests=0) for question, reply in replies.items() if reply]
        )

    def notes(self) -> Mapping[str, str | float]:
        """Nothing worth saying."""
        return {}

    def replied(self, questions: Iterable[Question]) -> int:
        """How many of them have a reply."""
        return sum(self._reply(question) is not None for question in questions)

    def refuse_missing(self, questions: Sequence[Question]) -> None:
        """Raise where some have no reply.

        Raises:
            ModelError: naming the first of them.
        """
        missing = [question for question in questions if self._reply(question) is None]
        if not missing:
            return
        shown = "; ".join(self._named(question) for question in missing[:SHOWN])
        more = f" and {len(missing) - SHOWN:,} more" if len(missing) > SHOWN else ""
        raise ModelError(
            f"no reply is recorded to {len(missing):,} of {len(questions):,} prompts: {shown}{more}",
            expected="a reply to every prompt",
            remedy="Record these too, or leave out what was not asked (control: false, a limit, other tests or data).",
            where=self.name,
        )

    def _reply(self, question: Question) -> Completion | None:
        """None where there is none."""
        for key in self._keys(question):
            replies = self.recording.replies.get(key, ())
            if question.repeat < len(replies):
                return replies[question.repeat]
        return None

    def _keys(self, question: Question) -> Iterator[ReplyKey]:
        """By what a reply may be found, the surest first."""
        if not self.recording.by_id:
            yield ReplyKey(prompt=question.prompt.strip())
            return
        if question.prompt not in self._asked_by:
            return
        case, side = self._asked_by[question.prompt]
        plain = f"{case.probe}/{case.sample_id}"
        own = case.id.rpartition("#")[0] if case.repeat else case.id
        # All cases of a sample show the same original; a control, or one case of several, is named by its own id.
        ids = (own, plain, case.sample_id) if side == "original" or own == plain else (own,)
        yield from (ReplyKey(test=test, id=id_, side=side) for id_ in ids for test in (case.probe, ""))

    def _named(self, question: Question) -> str:
        if question.prompt in self._asked_by:
            case, side = self._asked_by[question.prompt]
            return f"{case.id} ({side})"
        return repr(question.prompt[:60])


def selection_of(spec: ModelSpec) -> Selection:
    """What of which file is taken.

    Raises:
        ModelError: no file is named, or an argument is of the wrong kind.
    """
    if not spec.name:
        raise ModelError(
            "no file is named", expected="recorded/<file>", remedy="Name the file of the replies.", where="model"
        )
    columns, where = (_mapping(spec.args.get(name), f"model_args.{name}") for name in ("columns", "where"))
    if unknown := [name for name in columns if name not in USUAL]:
        raise ModelError(
            f"{unknown[0]!r}",
            expected=f"one of {', '.join(USUAL)}",
            remedy="Correct the name.",
            where="model_args.columns",
        )
    columns = {name: str(column) for name, column in columns.items()}
    return Selection(source=spec.name, columns=columns, where=where, requests=str(spec.args.get("requests") or ""))


def _has_passages(recording: Recording) -> bool:
    """Whether it is known of some reply what was retrieved for it."""
    return any(reply.passages is not None for replies in recording.replies.values() for reply in replies)


_READ: dict[str, Recording] = {}
"""The recording that was read last, by what it is: who looks at it first opens it next."""


def _recording(selection: Selection, digest: str) -> Recording:
    """What is taken of files with a digest; read once."""
    taken = f"{digest} {selection!r}"
    recording = _READ.get(taken)
    if recording is None:
        recording = read_recording(selection)
        _READ.clear()
        _READ[taken] = recording
    return recording


def _mapping(value: Any, where: str) -> Mapping[str, Any]:
    if value is None or isinstance(value, Mapping):
        return value or {}
    raise ModelError(repr(value), expected="a mapping", remedy=f"Write --set {where}.<name>=<column>.", where=where)


def _sha256(selection: Selection) -> str:
    """Of the bytes of all files that are read."""
    digest = hashlib.sha256()
    for name in selection.files:
        try:
            with Place.at(name, setting="model").here() as path, path.open("rb") as file:
                for part in iter(lambda: file.read(PART), b""):
                    digest.update(part)
        except OSError as error:
            raise ModelError(
                error.strerror or type(error).__name__,
                expected="a file of replies",
                remedy="Correct its name.",
                where=name,
            ) from error
    return digest.hexdigest()
