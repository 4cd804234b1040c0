"""Names for a package that adds a test: a base class for each shape of probe, and the records that travel.

An edit extends `TextEdit` and has `edit`; two texts in both orders extend `TwoOrders` and have `comparison`; any other
test extends `Probe` and has `cases` and `score`. The package names its class in the entry point group
`contrapose.probes`.
"""

from contrapose.tasks.core.records import (
    AnswerPair,
    Case,
    Completion,
    ItemSample,
    Likelihoods,
    Score,
    SummaryPair,
    TextSample,
    Trial,
)
from contrapose.tasks.probes.answers.settings import AnswerSettings
from contrapose.tasks.probes.base import (
    Column,
    Criterion,
    Embed,
    Measure,
    Probe,
    ProbeSettings,
    control_of,
    letter_options,
    letters,
    unscored_score,
)
from contrapose.tasks.probes.choices import Choice, read_choice, step_of
from contrapose.tasks.probes.edits.base import NEEDS_ENGLISH, NEEDS_MAIN_VERB, NEEDS_OPTIONS, Edited, TextEdit
from contrapose.tasks.probes.orders.two_orders import ComparedTexts, TwoOrders, TwoOrdersSettings
from contrapose.tasks.probes.panels import Bars, Grid, Heading, Panel, PanelShare, Picture, Quantity, Sheet, shares
from contrapose.tasks.probes.prompt_settings import OwnPromptSettings, PromptSettings, prompts_for

__all__ = [
    "NEEDS_ENGLISH",
    "NEEDS_MAIN_VERB",
    "NEEDS_OPTIONS",
    "AnswerPair",
    "AnswerSettings",
    "Bars",
    "Case",
    "Choice",
    "Column",
    "ComparedTexts",
    "Completion",
    "Criterion",
    "Edited",
    "Embed",
    "Grid",
    "Heading",
    "ItemSample",
    "Likelihoods",
    "Measure",
    "OwnPromptSettings",
    "Panel",
    "PanelShare",
    "Picture",
    "Probe",
    "ProbeSettings",
    "PromptSettings",
    "Quantity",
    "Score",
    "Sheet",
    "SummaryPair",
    "TextEdit",
    "TextSample",
    "Trial",
    "TwoOrders",
    "TwoOrdersSettings",
    "control_of",
    "letter_options",
    "letters",
    "prompts_for",
    "read_choice",
    "shares",
    "step_of",
    "unscored_score",
]
