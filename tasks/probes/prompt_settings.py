"""A prompt of one's own as settings of a test, and the prompts about a text that come of it, or of our own."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import ClassVar, NamedTuple, Self

from pydantic import Field, field_validator, model_validator

from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.records import Likelihoods, TextSample
from contrapose.tasks.probes.base import ASK, ProbeSettings, letters, marked
from contrapose.tasks.probes.own_prompt import (
    OwnLabels,
    check_distinct,
    check_labels,
    check_template,
    names_in,
    rendered,
)
from contrapose.tasks.probes.read_with import ReadSettings
from contrapose.tasks.probes.templates import TEXT, default_prompt

MOST = 26
"""Options of a sample."""


class PromptSettings(ProbeSettings):
    """Settings of a test that takes a prompt of one's own."""

    variables: ClassVar[tuple[str, ...]] = TEXT
    """Names that a template may use."""
    needed: ClassVar[tuple[str, ...]] = ("text",)
    """Those of them that it must."""

    prompt: str | None = Field(
        default=None,
        description="Template of a prompt of your own (Jinja2), with {{ text }}, and with {{ context }} and "
        "{{ options }} where samples have them; {{ letters }} and {{ ask }} if it wants them; in a suite, "
        "`prompt_file` names its file. Empty: our own.",
    )
    labels: tuple[str, ...] | None = Field(
        default=None,
        description="What stands before the options in a prompt of your own, such as 1, 2, 3, 4; empty: A, B, C, …",
    )

    @field_validator("prompt", "reworded", check_fields=False)
    @classmethod
    def _usable(cls, template: str | None) -> str | None:
        if template is not None:
            check_template(template, known=cls.variables, needed=cls.needed)
        return template

    @model_validator(mode="after")
    def _labels_of_a_prompt(self) -> Self:
        if self.labels is None:
            return self
        if not 2 <= len(self.labels) <= MOST:
            raise ValueError(f"{len(self.labels)} labels; expected 2 to {MOST}")
        check_distinct(self.labels)
        if self.prompt is None:
            raise ValueError("labels without a prompt of one's own; expected prompt, too")
        return self

    def named(self, count: int) -> tuple[str, ...]:
        """What stands before so many options."""
        return letters(count) if self.labels is None else self.labels[:count]


class OwnPromptSettings(PromptSettings, ReadSettings):
    """Settings of a test that also reads which option a reply to such a prompt names."""

    pattern: str | None = Field(
        default=None,
        description="Regular expression whose one group captures a label of the reply; empty: by our rules for "
        "letters, and for other labels the one that stands in the reply.",
    )
    answer_field: str | None = Field(
        default=None,
        description="Field of JSON that holds the label in a reply, such as verdict or result.winner; empty: none.",
    )

    @model_validator(mode="after")
    def _readable(self) -> Self:
        if self.prompt is None and (self.pattern is not None or self.answer_field is not None):
            raise ValueError("a pattern or a field without a prompt of one's own; expected prompt, too")
        if not self.labels_are_own:
            return self
        check_labels(self.labels or letters(MOST), self.pattern, field=self.answer_field)
        if self.read_with not in ("auto", "reply"):
            raise ValueError(f"read_with {self.read_with} with labels of one's own; expected auto or reply")
        return self

    @property
    def labels_are_own(self) -> bool:
        """Whether replies are read by labels that the prompt names, and not as letters."""
        return self.prompt is not None and self.own_labels is not None

    @property
    def own_labels(self) -> OwnLabels | None:
        """How replies are read that name labels of the prompt; None where they are read as letters."""
        if self.labels is None and self.pattern is None and self.answer_field is None:
            return None
        named = self.labels or letters(MOST)
        if self.pattern is None and self.answer_field is None and named == letters(len(named)):
            return None
        return OwnLabels(labels=named, pattern=self.pattern, field=self.answer_field)

    def by_likelihood(self, likelihoods: Likelihoods) -> bool:
        """Whether letters are compared by likelihood."""
        return super().by_likelihood(likelihoods) and not self.labels_are_own

    def asks_back(self, likelihoods: Likelihoods) -> bool:
        """Whether a model is asked about replies that could not be read."""
        return super().asks_back(likelihoods) and not self.labels_are_own


class RewordedSettings(OwnPromptSettings):
    """Settings of a test whose controls ask the same in other words."""

    reworded: str | None = Field(
        default=None,
        description="A prompt of your own in other words, for the controls of one without {{ ask }}; in a suite, "
        "`reworded_file` names its file. Empty: no controls then.",
    )

    @model_validator(mode="after")
    def _reworded_of_a_prompt(self) -> Self:
        if self.reworded is not None and self.prompt is None:
            raise ValueError("other words without a prompt of one's own; expected prompt, too")
        return self


class TextPrompts(NamedTuple):
    """The prompts about the texts of one sample; what stands around a text is the same in all of them."""

    template: str | None
    """Of one's own; None: ours."""
    labels: tuple[str, ...]
    """What stands before its options."""
    options: str
    """Its options behind them, a line each; empty where it has none."""
    context: str
    """What stands above the text; empty where it has none."""
    where: str
    """The setting and the sample, for errors."""

    def of(self, text: str, *, ask: str = ASK) -> str:
        """The prompt about one text.

        Raises:
            ConfigError: the template fails.
        """
        if self.template is None:
            form = _our_form(self.context != "", self.options != "")
            values = {"text": text, "context": self.context, "options": self.options, "ask": ask}
            return text if form == _BARE else form % values
        values = {
            "text": text,
            "context": self.context,
            "options": self.options,
            "letters": joined(self.labels),
            "ask": ask,
        }
        return rendered(self.template.strip(), values, where=self.where, strip=False)

    def pair(self, original: str, perturbed: str | None) -> tuple[str, str | None]:
        """The prompts before and after a change of the text; the second is None where there is none.

        Raises:
            ConfigError: the template fails, or makes the same of both.
        """
        if perturbed is None:
            return (self.of(original) if original.strip() else original), None
        before, after = self.of(original), self.of(perturbed)
        if before == after and original != perturbed:
            raise ConfigError(
                "the prompt is the same before and after the change",
                expected="{{ text }} as it is, so that what is changed in it is asked",
                remedy="Leave out the filter or condition that takes the change away.",
                where=self.where,
            )
        return before, after

    def with_options(self, options: Sequence[str]) -> TextPrompts:
        """The same for the options in another order."""
        return self._replace(options=marked(options, self.labels))


_BARE = "%(text)s"


@lru_cache(maxsize=4)
def _our_form(has_context: bool, has_options: bool) -> str:
    """Our own prompt with context and options, or without: this is asked for every prompt of a run."""
    return default_prompt("text").forms[(has_context, has_options)]


def prompts_for(sample: TextSample, settings: PromptSettings, *, where: str) -> TextPrompts:
    """What makes the prompts about a sample.

    Args:
        sample: with or without options.
        settings: of the test.
        where: the test's key in a configuration.

    Raises:
        ConfigError: the sample has a context or options that the template does not show, or more options than labels.
    """
    labels = settings.named(len(sample.options))
    if settings.prompt is not None:
        where = f"{where}.prompt, sample {sample.id}"
        _refuse_unfit(sample, settings.prompt, labels, where)
    options = marked(sample.options, labels) if sample.options else ""
    return TextPrompts(settings.prompt, labels, options, (sample.context or "").strip(), where)


def refuse_hidden(
    sample: TextSample, prompt: str, *, names: Sequence[str] = ("context", "options"), where: str
) -> None:
    """Raise ConfigError where a prompt of one's own does not show the context or the options of a sample."""
    hidden = [name for name in names if getattr(sample, name) and name not in names_in(prompt)]
    if hidden:
        had = f"{len(sample.options)} options" if hidden[0] == "options" else f"a {hidden[0]}"
        raise ConfigError(
            f"{had}, and a prompt without {{{{ {hidden[0]} }}}}",
            expected=f"{{{{ {hidden[0]} }}}} in a prompt about samples with {hidden[0]}",
            remedy=f"Put it where it belongs, or do not read it: --set data.columns.{hidden[0]}=",
            where=where,
        )


def _refuse_unfit(sample: TextSample, prompt: str, labels: Sequence[str], where: str) -> None:
    """Raise ConfigError where a prompt of one's own leaves out a part of a sample, or labels do not reach."""
    count = len(sample.options)
    refuse_hidden(sample, prompt, where=where)
    if len(labels) < count:
        raise ConfigError(
            f"{count} options, and {len(labels)} labels",
            expected="a label for every option",
            remedy="Add labels.",
            where=where,
        )


def joined(labels: Sequence[str]) -> str:
    """Labels as a prompt names them: A, B, C or D."""
    return " or ".join((", ".join(labels[:-1]), labels[-1])) if len(labels) > 1 else "".join(labels)
