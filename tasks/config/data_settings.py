"""Data settings: where samples come from, and which columns they are in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import ConfigDict, Field, field_validator, model_validator

from contrapose.tasks.core.registry import names
from contrapose.tasks.core.secrets import holds_password
from contrapose.tasks.core.user_settings import UserSettings

FIELDS = (
    *("text", "context", "options", "answer", "items", "relevant", "system", "tools"),
    *("article_sentence", "correct_sentence", "incorrect_sentence"),
    *("instruction", "better", "worse", "first", "second", "winner", "reference", "better_by", "worse_by"),
    *("after", "context_after", "options_after", "answer_after", "control", "variant"),
    *("id", "cluster"),
)
"""Our names of what a row holds: the keys that `columns` may have."""

TurnChoice = Literal["last", "system"] | Annotated[int, Field(ge=-1000, le=1000)]
"""Which message of a conversation is the text."""

PLACE = {"source", "slice_by"}
"""Settings that decide no case: the same rows may lie elsewhere."""


class DataSettings(UserSettings):
    """A data source. A plain string stands for `{source: <string>}`."""

    model_config = ConfigDict(title="Data")

    every_column: ClassVar[bool] = False
    """Whether columns that no sample has are read as well."""

    source: str = Field(
        min_length=1,
        description="A bundled name (negation, toxic_words, summary_pairs, judge_pairs, item_lists, stories, "
        "tool_calls), a path or fsspec URL that ends in .jsonl, .json, .csv, .tsv, .parquet or .xlsx, "
        "`hf/<org>/<name>`, or `hf/<folder>`.",
    )
    format: str | None = Field(
        default=None,
        description="Format of the source; empty: from the end of its name.",
        json_schema_extra={"enum": [*names("sources"), None]},
    )
    columns: dict[str, str] = Field(
        default_factory=dict,
        description="Field to column of the source. An unnamed field is found by names and values; an empty name skips "
        "it. Options in a column each are named together: `A,B,C,D`. A key below an object follows a dot: "
        f"`question.stem`. Fields: {', '.join(FIELDS)}.",
    )
    layout: str | None = Field(
        default=None, description="Known data set whose columns these are, such as race; empty: recognised by itself."
    )
    answer_index: Literal[0, 1] | None = Field(
        default=None, description="Where answers that are numbers begin to count options; empty: the data decide."
    )
    turn: TurnChoice = Field(
        default="last",
        description="Which message of a conversation a test changes: last (the user's last), system, or a number among "
        "the user's messages: 1 is the first, -1 the last.",
    )
    shuffle: bool = Field(
        default=True, description="A limit draws rows at random, by the seed; off: it takes the first rows."
    )
    slice_by: str | None = Field(
        default=None, description="Column whose values split the results into slices; empty: none."
    )
    cluster_by: str | None = Field(
        default=None,
        description="Column whose equal values mark rows that are not independent, such as an article's id.",
    )
    subset: str | None = Field(
        default=None, description="Configuration of a Hugging Face dataset; empty: its only one."
    )
    split: str = Field(default="test", min_length=1, description="Split of a Hugging Face dataset.")
    sheet: str | None = Field(default=None, description="Sheet of a workbook; empty: the first that holds something.")
    record_path: str | None = Field(
        default=None,
        min_length=1,
        description="Key of a JSON file below which its rows are, such as data.items; empty: found by itself.",
    )
    skip_bad_rows: bool = Field(
        default=False, description="Leave out rows that cannot be used, and list them; off: one refuses the source."
    )

    @model_validator(mode="before")
    @classmethod
    def _wrap_source(cls, values: Any) -> Any:
        return {"source": values} if isinstance(values, str) else values

    @field_validator("source")
    @classmethod
    def _refuse_password(cls, source: str) -> str:
        if holds_password(source):
            raise ValueError(
                "an address with a password or a token; expected one without, since sources are told in every report: "
                "give it to fsspec by its own configuration or environment, or download the file"
            )
        return source

    @field_validator("turn")
    @classmethod
    def _check_turn(cls, turn: TurnChoice) -> TurnChoice:
        if turn == 0:
            raise ValueError("0; expected 1 for the user's first message, -1 for the last")
        return turn

    @field_validator("format")
    @classmethod
    def _check_format(cls, name: str | None) -> str | None:
        if name is not None and name not in names("sources"):
            raise ValueError(f"one of {', '.join(names('sources'))}")
        return name

    @field_validator("columns", mode="before")
    @classmethod
    def _join_columns(cls, columns: Any) -> Any:
        """Accept null for a field that shall not be read, and a list for columns of options."""
        if not isinstance(columns, Mapping):
            return columns
        columns = {name: "" if column is None else column for name, column in columns.items()}
        if isinstance(several := columns.get("options"), list):
            columns["options"] = ",".join(map(str, several))
        return columns

    @field_validator("columns")
    @classmethod
    def _check_fields(cls, columns: Mapping[str, str]) -> dict[str, str]:
        unknown = [name for name in columns if name not in FIELDS]
        if unknown:
            raise ValueError(f"columns has no field {unknown[0]!r}; expected one of {', '.join(FIELDS)}")
        return dict(columns)


class EveryColumn(DataSettings):
    """Settings of a source whose rows are no samples, so that every column is read."""

    every_column: ClassVar[bool] = True


def merge_settings(base: Any, changes: Any) -> Any:
    """Return a base with changes: mappings are merged key by key, everything else is replaced."""
    if not (isinstance(base, Mapping) and isinstance(changes, Mapping)):
        return changes
    return {**base, **{key: merge_settings(base.get(key), value) for key, value in changes.items()}}


def merge_data_settings(own: Any, general: Any) -> DataSettings:
    """Return a test's data settings, merged into `general` if they name no source, or raise ValidationError."""
    base = DataSettings.model_validate(general)
    if not own:
        return base
    partial = isinstance(own, Mapping) and "source" not in own
    return DataSettings.model_validate(merge_settings(base.model_dump(), own) if partial else own)
