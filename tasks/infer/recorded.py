"""Provider `recorded`: replies from a file of another tool or an earlier run. No model is called."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Literal

from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.core.chats import format_for_recording, parse_chat
from contrapose.tasks.core.errors import ModelError, suggest_name
from contrapose.tasks.core.places import Place
from contrapose.tasks.core.provider import Argument, Check
from contrapose.tasks.core.questions import Answer, Question
from contrapose.tasks.core.records import Case, Completion, Likelihoods
from contrapose.tasks.core.tool_calls import split_reply
from contrapose.tasks.infer.ask import list_questions
from contrapose.tasks.infer.base import LocalProvider, refuse_frame, refuse_unknown
from contrapose.tasks.infer.formats.base import Selection
from contrapose.tasks.infer.recordings import SIDES, USUAL, Recording, ReplyKey, read_recording

if TYPE_CHECKING:
    from contrapose.tasks.infer.broker import StoreBroker

SHOWN = 5
"""Prompts or cases without a reply that an error names."""
NOT_RECORDED = "not_recorded"
"""Skip reason of a case without a reply to one of its prompts."""
PART = 1 << 20
BY_ID = (
    "recorded replies were found by the ids of their samples: that they were given to these very prompts is taken on "
    "trust"
)


class RecordedReplies(LocalProvider):
    """Provider of replies in a file, which it finds by prompt, or by the id of the sample and the side."""

    answers_only: ClassVar[Literal[True]] = True
    arguments: ClassVar[Mapping[str, Argument]] = {
        "columns": Argument(
            type="mapping", description=f"What a row holds ({', '.join(USUAL)}) to the column that holds it."
        ),
        "where": Argument(type="mapping", description="Columns to the values that a row must have to be taken."),
        "requests": Argument(type="text", description="The file of requests that a file of batch results answers."),
        "revision": Argument(type="text", description="Which training gave the replies."),
    }

    def check(self, spec: ModelSpec) -> Check:
        """Check the file by reading it."""
        replies = read_recording(read_selection(spec)).replies
        return Check(state="ok", observed=f"{spec.id} holds {sum(map(len, replies.values())):,} replies")

    def files(self, spec: ModelSpec) -> list[str]:
        """Return the files that the replies are read from."""
        return list(filter(None, [spec.name, str(spec.args.get("requests") or "")]))

    def likelihoods(self, spec: ModelSpec) -> Likelihoods:
        """Return "none", because a recording has only replies."""
        return "none"

    def identity(self, spec: ModelSpec) -> Mapping[str, str]:
        """Return the hash of the file, and which rows and columns are read."""
        refuse_unknown(spec, self.arguments)
        if spec.few_shot:
            refuse_frame(spec, "a recording has whatever stood before its prompts")
        selection = read_selection(spec)
        taken = {"columns": dict(selection.columns), "where": dict(selection.where)}
        training = {"training": str(spec.args["revision"])} if spec.args.get("revision") else {}
        digest, recording = _read_recording(selection)
        # Versions that knew no passages stored replies of such a file without them.
        has_passages = any(reply.passages is not None for replies in recording.replies.values() for reply in replies)
        return {
            "revision": digest,
            "dtype": "recorded",
            "device": "none",
            "taken": json.dumps(taken, sort_keys=True),
            **training,
            **({"passages": "kept"} if has_passages else {}),
        }

    def open(self, spec: ModelSpec) -> RecordedModel:
        """Return a model with all replies of the file in memory."""
        return RecordedModel(_read_recording(read_selection(spec))[1], spec.name)

    def replied(self, spec: ModelSpec, cases: Iterable[Case]) -> Iterator[Case]:
        """Yield the cases; one without both replies is skipped, a control without them is left out."""
        model = self.open(spec)
        for case in cases:
            if case.skip_reason is not None or model.has_replies(case):
                yield replace(case, also_again=case.also_again and model.has_replies(case, again=1))
            elif not case.control:
                yield replace(case, perturbed=None, perturbed_prompt=None, skip_reason=NOT_RECORDED, confidence=None)

    def remarks(self, spec: ModelSpec, tests: Sequence[str]) -> list[str]:
        """Return warnings: replies that were found only by ids, and missing passages.

        ModelError: a reply to a perturbed prompt would count for several of these tests.
        """
        recording = self.open(spec).recording
        changed = [key for key in recording.replies if key.side == "perturbed" and not key.test]
        if len(tests) > 1 and any(key.id.partition("/")[0] not in tests for key in changed):
            raise ModelError(
                f"the replies do not say to which of {len(tests)} tests they belong: {', '.join(tests)}",
                expected="replies of one test, or a column test",
                remedy=f"Name the test, such as --test {tests[0]}, or add a column test.",
                where=spec.name,
            )
        return [*([BY_ID] if recording.by_id else []), *recording.remarks.values()]


def make_nothing_recorded_error(cases: Iterable[str], spec: ModelSpec) -> ModelError:
    """Return the error for a recording that has both replies of no case; `cases`: ids of all."""
    return ModelError(
        f"no case has recorded replies to both prompts: {_list_first(list(cases))}",
        expected="both replies of at least one case",
        remedy="Record replies under the ids or prompts that `contrapose preview --json` lists.",
        where=spec.name,
    )


def _list_first(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
    return "; ".join(names[:SHOWN]) + more


class RecordedModel:
    """A model that finds recorded replies by prompt, or by the cases that ask it."""

    def __init__(self, recording: Recording, name: str) -> None:
        self.recording, self.name = recording, name
        self._keys_of: dict[str, dict[ReplyKey, None]] = {}

    def expect(self, cases: Sequence[Case]) -> None:
        """Remember the ids under which a reply to a prompt may be found: those of all cases that ask it, in order."""
        for case in cases if self.recording.by_id else ():
            for question, side in zip(list_questions([case]), SIDES, strict=False):
                self._keys_of.setdefault(question.prompt, {}).update(dict.fromkeys(_yield_reply_keys(case, side)))

    def has_replies(self, case: Case, *, again: int = 0) -> bool:
        """Return whether both prompts of a case have a reply, and `again` further ones."""
        return all(
            self._reply(replace(question, repeat=question.repeat + again), _yield_reply_keys(case, side))
            for question, side in zip(list_questions([case]), SIDES, strict=False)
        )

    def answer(self, questions: Sequence[Question], broker: StoreBroker) -> None:
        """Put the recorded replies to questions at the broker."""
        taken = broker.take(questions)
        keys = {question: self._keys_of.get(question.prompt, {}) for question in taken}
        replies = {question: self._reply(question, keys[question]) for question in taken}
        missing = [question for question, reply in replies.items() if reply is None]
        if missing:
            names = [
                next((f"{key.id} ({key.side})" for key in keys[question]), repr(question.prompt[:60]))
                for question in missing
            ]
            raise ModelError(
                f"{len(missing):,} of {len(taken):,} prompts have no recorded reply: {_list_first(names)}",
                expected="a reply to every prompt",
                remedy="Add their replies to the file; `contrapose preview --json` lists the prompts.",
                where=self.name,
            )
        broker.put(
            [Answer(question=question, completion=reply, requests=0) for question, reply in replies.items() if reply]
        )

    def notes(self) -> Mapping[str, str | float]:
        """Return no notes."""
        return {}

    def _reply(self, question: Question, keys: Iterable[ReplyKey]) -> Completion | None:
        """Return the reply to a question, or None if there is none."""
        prompt = format_for_recording(question.prompt)
        talk = self.recording.conversations.get(prompt) if parse_chat(question.prompt) else None
        for key in keys if self.recording.by_id else (ReplyKey(prompt=prompt),):
            replies = talk or self.recording.replies.get(key, ())
            if question.repeat < len(replies):
                return _convert_to_question(replies[question.repeat], question)
        return None


def _convert_to_question(reply: Completion, question: Question) -> Completion:
    """Return a recorded reply as the answer to a question; tool calls count if the question offers tools."""
    if reply.outcome != "tool_call":
        return reply
    chat = parse_chat(question.prompt)
    if chat and chat.tools:
        return replace(reply, outcome="answered")
    text = split_reply(reply.text).text
    return replace(reply, text=text, outcome="answered" if text else "tool_call")


def _yield_reply_keys(case: Case, side: str) -> Iterator[ReplyKey]:
    """Yield keys under which the reply to a prompt of a case may be found, the most certain first."""
    plain = f"{case.probe}/{case.sample_id}"
    own = case.id.rpartition("#")[0] if case.repeat else case.id
    # Numbered cases of a sample and its control show the same original; others, as in another wording, have their own.
    shared = all(part.isdigit() or part in ("", "control") for part in own.removeprefix(plain).split("/"))
    # The id of the sample also names its first case.
    by_sample = (side == "original" and shared) or own in (plain, f"{plain}/1")
    ids = (own, plain, case.sample_id) if by_sample else (own,)
    yield from (ReplyKey(test=test, id=id_, side=side) for id_ in ids for test in (case.probe, ""))


def read_selection(spec: ModelSpec) -> Selection:
    """Return which rows and columns of a file are read, by the arguments of the model."""
    if not spec.name:
        raise ModelError(
            "no file is named", expected="recorded/<file>", remedy="Write --model recorded/<file>.", where="model"
        )
    for name in ("columns", "where"):
        value, place = spec.args.get(name), f"model_args.{name}"
        if value is not None and not isinstance(value, Mapping):
            remedy = f"Write --set {place}.<name>=<column>."
            raise ModelError(repr(value), expected="a mapping", remedy=remedy, where=place)
    columns, where = spec.args.get("columns") or {}, spec.args.get("where") or {}
    if unknown := [name for name in columns if name not in USUAL]:
        expected = f"one of {', '.join(USUAL)}"
        raise ModelError(
            f"{unknown[0]!r}",
            expected=expected,
            remedy=suggest_name(unknown[0], USUAL, otherwise="Write one of these names."),
            where="model_args.columns",
        )
    columns = {name: str(column) for name, column in columns.items()}
    return Selection(source=spec.name, columns=columns, where=where, requests=str(spec.args.get("requests") or ""))


_READ: dict[str, Recording] = {}
"""The recording that was read last, by its hash and selection: a run first identifies it, then opens it."""


def _read_recording(selection: Selection) -> tuple[str, Recording]:
    """Return the hash of all files that are read, and their recording; cached after the first call."""
    hasher = hashlib.sha256()
    for name in selection.files:
        try:
            with Place.at(name, setting="model").here() as path, path.open("rb") as file:
                for part in iter(lambda: file.read(PART), b""):
                    hasher.update(part)
        except OSError as error:
            is_replies = name == selection.source
            raise ModelError(
                error.strerror or type(error).__name__,
                expected="a file of replies" if is_replies else "a file of requests",
                remedy=f"Name an existing file: {'--model recorded/<file>' if is_replies else 'model_args.requests'}.",
                where=name,
            ) from error
    taken = f"{hasher.hexdigest()} {selection!r}"
    if (recording := _READ.get(taken)) is None:
        recording = read_recording(selection)
        _READ.clear()
        _READ[taken] = recording
    return hasher.hexdigest(), recording
