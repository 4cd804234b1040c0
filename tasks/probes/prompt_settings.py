"""Settings of a test's prompt and of how its replies are read, and the prompts that they produce."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self

from pydantic import Field, field_validator, model_validator

from contrapose.tasks.core.chats import Chat, parse_chat
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.records import Likelihoods, TextSample
from contrapose.tasks.probes.base import ASK, ProbeSettings, label_options, letters
from contrapose.tasks.probes.own_prompt import (
    OwnLabels,
    check_distinct,
    check_template,
    join_messages,
    list_template_names,
    load_built_in_wordings,
    render_built_in,
    render_prompt,
)

MOST = 26
"""Options of a sample."""
MOST_WORDINGS = 100
Wordings = (
    Annotated[int, Field(ge=1, le=MOST_WORDINGS)]
    | Annotated[tuple[str, ...], Field(min_length=2, max_length=MOST_WORDINGS)]
)
"""The number of built-in wordings, or your own templates."""


class ReadSettings(ProbeSettings):
    """Settings of a test that reads which option was chosen."""

    of_scoring: ClassVar[frozenset[str]] = frozenset({"read_with"})

    read_with: Literal["auto", "likelihood", "ask", "reply"] = Field(
        default="auto",
        description="How a choice is read. likelihood: the letter with the highest log-probability. reply: the text of "
        "the reply. ask: the text, and the reader model for replies that the rules cannot read. auto: likelihood where "
        "the model gives it, else ask.",
    )
    answer_in_words: int = Field(
        default=50,
        ge=0,
        description="With letters compared by log-probability: number of samples that are also answered in words, to "
        "check that both agree. 0: none.",
    )

    def answers_in_words(self, likelihoods: Likelihoods) -> int:
        """Return how many samples are also answered in words; 0 if all samples are answered in words anyway."""
        return self.answer_in_words if self.by_likelihood(likelihoods) else 0

    def by_likelihood(self, likelihoods: Likelihoods) -> bool:
        """Return whether letters are compared by likelihood, for a model that gives these log-likelihoods."""
        return self.read_with == "likelihood" or (self.read_with == "auto" and likelihoods != "none")

    def require_likelihoods(self, likelihoods: Likelihoods, *, where: str) -> bool:
        """Return whether letters are compared by likelihood; raise ConfigError if the model gives none."""
        if self.read_with == "likelihood" and likelihoods == "none":
            raise ConfigError(
                "read_with is 'likelihood', but this model gives no log-likelihoods",
                expected="auto, ask or reply",
                remedy="Set read_with: auto, or run a local model.",
                where=f"{where}.read_with",
            )
        return self.by_likelihood(likelihoods)

    def asks_back(self, likelihoods: Likelihoods) -> bool:
        """Return whether unreadable replies go to the reader model."""
        return self.read_with == "ask" or (self.read_with == "auto" and likelihoods == "none")


class PromptSettings(ProbeSettings):
    """Settings of a test that accepts your own prompt."""

    variables: ClassVar[tuple[str, ...]] = ("text", "context", "options", "letters", "ask")
    """Names that a template may use."""
    needed: ClassVar[tuple[str, ...]] = ("text",)
    """Names that a template must use."""
    built_in: ClassVar[str] = "text"
    """Name of our own prompt in `data/prompts`; empty if it has no further wordings there."""

    prompt: str | None = Field(
        default=None,
        description="Your own prompt as a Jinja2 template. It needs {{ text }}, and {{ context }} and {{ options }} "
        "where samples have them. It may use {{ letters }} and {{ ask }}. In a suite, `prompt_file` names its file. "
        "A list of messages with `role` and `content` works, too. Empty: the built-in prompt.",
    )
    labels: tuple[str, ...] | None = Field(
        default=None,
        description="Labels of the options in your own prompt, such as 1, 2, 3, 4. Empty: A, B, C, …",
    )
    wordings: Wordings | None = Field(
        default=None,
        description="Wordings of the prompt, all with the same meaning: how many built-in ones, or a list of your own "
        "templates; in a suite, `wordings_files` names their files. From 6 on the interval also covers the choice of "
        "the wording. Empty: the number of the run.",
    )
    wordings_each: int = Field(
        default=2,
        ge=1,
        le=MOST_WORDINGS,
        description="In how many of the wordings each sample is asked, where there are several.",
    )
    wording: int = Field(
        default=1,
        ge=1,
        le=MOST_WORDINGS,
        description="Number of the built-in wording that is asked where there are not several; 1 is the usual one.",
    )

    @field_validator("prompt", "reworded", mode="before", check_fields=False)
    @classmethod
    def _join_messages(cls, template: Any) -> Any:
        return join_messages(template) if isinstance(template, list | tuple) else template

    @model_validator(mode="before")
    @classmethod
    def _prompt_of_wordings(cls, values: Any) -> Any:
        """Use the first of your own wordings as the prompt, so that labels and patterns belong to a prompt."""
        own = values.get("wordings") if isinstance(values, dict) else None
        if isinstance(own, list | tuple) and own and values.get("prompt") is None:
            return {**values, "prompt": own[0]}
        return values

    @model_validator(mode="after")
    def _check_wordings(self) -> Self:
        own = self.wordings if isinstance(self.wordings, tuple) else ()
        for template in own:
            check_template(template, known=self.variables, needed=self.needed)
        if own and self.prompt != own[0]:
            raise ValueError("wordings of one's own, and a prompt that is not the first of them; expected one of both")
        if len(set(own)) < len(own):
            raise ValueError("two equal wordings; expected templates that differ")
        count = self.wordings if isinstance(self.wordings, int) else 1
        if self.prompt is not None and max(count, self.wording) > 1:
            raise ValueError(
                f"{max(count, self.wording)} built-in wordings beside a prompt of one's own; expected a list of "
                "templates in wordings"
            )
        shipped = self.built_in_count
        if max(count, self.wording) > shipped:
            raise ValueError(
                f"{max(count, self.wording)} wordings; expected at most {shipped}, which is how many are built in, or "
                "a list of templates"
            )
        return self

    @property
    def built_in_count(self) -> int:
        """Return the number of wordings of our own prompt."""
        return len(load_built_in_wordings(self.built_in)) if self.built_in else 1

    @property
    def wording_count(self) -> int:
        """Return the number of wordings in which samples are asked."""
        return len(self.wordings) if isinstance(self.wordings, tuple) else self.wordings or 1

    def in_wording(self, number: int) -> Self:
        """Return the settings for one of the wordings, by number from 1."""
        own = self.wordings
        changed: dict[str, Any] = {"prompt": own[number - 1]} if isinstance(own, tuple) else {"wording": number}
        return self.model_copy(update={**changed, "wordings": None})

    @field_validator("prompt", "reworded", check_fields=False)
    @classmethod
    def _check_template(cls, template: str | None) -> str | None:
        if template is not None:
            check_template(template, known=cls.variables, needed=cls.needed)
        return template

    @model_validator(mode="after")
    def _check_labels(self) -> Self:
        if self.labels is None:
            return self
        if not 2 <= len(self.labels) <= MOST:
            raise ValueError(f"{len(self.labels)} labels; expected 2 to {MOST}")
        check_distinct(self.labels)
        if self.prompt is None:
            raise ValueError("labels without a prompt of one's own; expected prompt, too")
        return self

    def first_labels(self, count: int) -> tuple[str, ...]:
        """Return the labels of the first `count` options."""
        return letters(count) if self.labels is None else self.labels[:count]


class OwnPromptSettings(PromptSettings, ReadSettings):
    """Settings of a test that also reads which option the reply to your own prompt names."""

    pattern: str | None = Field(
        default=None,
        description="Regular expression whose one group captures the label in a reply. Empty: the built-in rules for "
        "letters, or the only label that the reply names.",
    )
    answer_field: str | None = Field(
        default=None,
        description="Field of JSON that holds the label in a reply, such as verdict or result.winner; empty: none.",
    )

    @model_validator(mode="after")
    def _check_reading(self) -> Self:
        if self.prompt is None and (self.pattern is not None or self.answer_field is not None):
            raise ValueError("a pattern or a field without a prompt of one's own; expected prompt, too")
        if not self.labels_are_own:
            return self
        OwnLabels(labels=self.labels or letters(MOST), pattern=self.pattern, field=self.answer_field).check()
        if self.read_with not in ("auto", "reply"):
            raise ValueError(f"read_with {self.read_with} with labels of one's own; expected auto or reply")
        return self

    @property
    def labels_are_own(self) -> bool:
        """Return whether replies are read by the labels of the prompt instead of letters."""
        return self.prompt is not None and self.own_labels is not None

    @property
    def own_labels(self) -> OwnLabels | None:
        """Return the labels of the prompt by which replies are read; None if they are read as letters."""
        if self.labels is None and self.pattern is None and self.answer_field is None:
            return None
        named = self.labels or letters(MOST)
        if self.pattern is None and self.answer_field is None and named == letters(len(named)):
            return None
        return OwnLabels(labels=named, pattern=self.pattern, field=self.answer_field)

    def by_likelihood(self, likelihoods: Likelihoods) -> bool:
        """Return whether letters are compared by likelihood."""
        return super().by_likelihood(likelihoods) and not self.labels_are_own

    def asks_back(self, likelihoods: Likelihoods) -> bool:
        """Return whether unreadable replies go to the reader model."""
        return super().asks_back(likelihoods) and not self.labels_are_own

    def choice_fields(self, likelihoods: Likelihoods, *, where: str) -> dict[str, Any]:
        """Return the fields of a case on how a choice is requested and read; raise ConfigError if impossible."""
        if self.require_likelihoods(likelihoods, where=where):
            return {"scorer": "likelihood", "asks": "choose"}
        return {"scorer": "label" if self.labels_are_own else "reply", "asks": "generate"}


class RewordedSettings(OwnPromptSettings):
    """Settings of a test whose controls ask the same question in other words."""

    reworded: str | None = Field(
        default=None,
        description="A prompt of your own in other words, for the controls of one without {{ ask }}; in a suite, "
        "`reworded_file` names its file. Empty: no controls then.",
    )

    @model_validator(mode="after")
    def _check_reworded(self) -> Self:
        if self.reworded is not None and self.prompt is None:
            raise ValueError("other words without a prompt of one's own; expected prompt, too")
        return self


class TextPrompts(NamedTuple):
    """Renders the prompts about the texts of one sample; everything around the text is the same."""

    template: str | None
    """Your own template; None: our own prompt."""
    labels: tuple[str, ...]
    options: str
    """Its options after their labels, one per line; empty if it has none."""
    context: str
    """The text above; empty if there is none."""
    where: str
    """The setting and the sample, for errors."""
    wording: int = 1
    """Number of our own wording."""
    chat: Chat | None = None
    """The conversation that contains the text; None if there is only the text."""
    turn: int = 0
    """Place of the text in the conversation."""

    def prompt(self, text: str, *, ask: str = ASK) -> str:
        """Return the prompt about one text; raise ConfigError if the template fails.

        In a conversation the template is about the user's last message, whichever message the text is.
        """
        if self.chat is None:
            return self._render(text, ask=ask)
        chat, asked = self.chat.with_contents({self.turn: text}), self.chat.last_of("user")
        if asked is None:
            return chat.prompt
        return chat.with_prompt(asked, self._render(chat.messages[asked]["content"], ask=ask)).prompt

    def _render(self, text: str, *, ask: str) -> str:
        values = {"text": text, "context": self.context, "options": self.options, "ask": ask}
        if self.template is None:
            return render_built_in("text", values, wording=self.wording, where=self.where)
        values["letters"] = join_labels(self.labels)
        return render_prompt(self.template.strip(), values, where=self.where, strip=False)

    def pair(self, original: str, perturbed: str | None) -> tuple[str, str | None]:
        """Return the prompts before and after a change of the text; the second is None if there is no change.

        Raise ConfigError if the template fails, or both prompts are the same.
        """
        if perturbed is None:
            return (self.prompt(original) if original.strip() else original), None
        before, after = self.prompt(original), self.prompt(perturbed)
        if before == after and original != perturbed:
            raise ConfigError(
                "the prompt is the same before and after the change",
                expected="a prompt that shows {{ text }} unchanged",
                remedy="Remove the filter or condition on {{ text }} from the template.",
                where=self.where,
            )
        return before, after

    def with_options(self, options: Sequence[str]) -> TextPrompts:
        """Return the prompts for the options in another order."""
        return self._replace(options=label_options(options, self.labels))


def prompts_for(sample: TextSample, settings: PromptSettings, *, where: str) -> TextPrompts:
    """Return the maker of a sample's prompts; raise ConfigError if the sample does not fit the settings."""
    count = len(sample.options)
    labels = settings.first_labels(count)
    if settings.prompt is not None:
        where = f"{where}.prompt, sample {sample.id}"
        refuse_hidden_parts(sample, settings.prompt, where=where)
        refuse_unlabelled_options(count, labels, where=where)
    options = label_options(sample.options, labels) if sample.options else ""
    chat = parse_chat(sample.chat or "")
    context = (sample.context or "").strip()
    return TextPrompts(settings.prompt, labels, options, context, where, settings.wording, chat, sample.turn)


def refuse_hidden_parts(
    sample: TextSample, prompt: str, *, names: Sequence[str] = ("context", "options"), where: str
) -> None:
    """Raise ConfigError if your own prompt does not show the context or the options of a sample."""
    for name in names:
        if getattr(sample, name) and name not in list_template_names(prompt):
            had = f"{len(sample.options)} options" if name == "options" else f"a {name}"
            raise ConfigError(
                f"the sample has {had}, and the prompt does not show {{{{ {name} }}}}",
                expected=f"{{{{ {name} }}}} in the prompt",
                remedy=f"Add {{{{ {name} }}}} to the prompt, or ignore the column: --set data.columns.{name}=",
                where=where,
            )


def refuse_unlabelled_options(count: int, labels: Sequence[str], *, where: str) -> None:
    """Raise ConfigError if there are fewer labels than options."""
    if len(labels) < count:
        observed = f"{count} options, and {len(labels)} labels"
        raise ConfigError(
            observed, expected="a label for every option", remedy="Add labels to the setting labels.", where=where
        )


def join_labels(labels: Sequence[str]) -> str:
    """Join labels for a prompt: A, B, C or D."""
    return " or ".join((", ".join(labels[:-1]), labels[-1])) if len(labels) > 1 else "".join(labels)
