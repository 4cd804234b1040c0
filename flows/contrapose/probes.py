"""Public names for a package that adds a test: base classes for tests, and the records that they use.

An edit extends `TextEdit` and has `edit`; two texts in both orders extend `TwoOrders` and have `comparison`; any other
test extends `Probe` and has `cases` and `score`. The package names its class in the entry point group
`contrapose.probes`.
"""

from contrapose.tasks.core.records import AnswerPair as AnswerPair
from contrapose.tasks.core.records import Case as Case
from contrapose.tasks.core.records import Completion as Completion
from contrapose.tasks.core.records import ItemSample as ItemSample
from contrapose.tasks.core.records import Likelihoods as Likelihoods
from contrapose.tasks.core.records import Score as Score
from contrapose.tasks.core.records import SummaryPair as SummaryPair
from contrapose.tasks.core.records import TextSample as TextSample
from contrapose.tasks.core.records import Trial as Trial
from contrapose.tasks.probes.answers.settings import AnswerSettings as AnswerSettings
from contrapose.tasks.probes.base import Column as Column
from contrapose.tasks.probes.base import Criterion as Criterion
from contrapose.tasks.probes.base import Embed as Embed
from contrapose.tasks.probes.base import Measure as Measure
from contrapose.tasks.probes.base import Probe as Probe
from contrapose.tasks.probes.base import ProbeSettings as ProbeSettings
from contrapose.tasks.probes.base import control_of as control_of
from contrapose.tasks.probes.base import letter_options as letter_options
from contrapose.tasks.probes.base import letters as letters
from contrapose.tasks.probes.base import unscored_score as unscored_score
from contrapose.tasks.probes.choices import Choice as Choice
from contrapose.tasks.probes.choices import read_choice as read_choice
from contrapose.tasks.probes.choices import step_of as step_of
from contrapose.tasks.probes.edits.base import NEEDS_ENGLISH as NEEDS_ENGLISH
from contrapose.tasks.probes.edits.base import NEEDS_MAIN_VERB as NEEDS_MAIN_VERB
from contrapose.tasks.probes.edits.base import NEEDS_OPTIONS as NEEDS_OPTIONS
from contrapose.tasks.probes.edits.base import Edited as Edited
from contrapose.tasks.probes.edits.base import TextEdit as TextEdit
from contrapose.tasks.probes.orders.two_orders import ComparedTexts as ComparedTexts
from contrapose.tasks.probes.orders.two_orders import TwoOrders as TwoOrders
from contrapose.tasks.probes.orders.two_orders import TwoOrdersSettings as TwoOrdersSettings
from contrapose.tasks.probes.panels import Bars as Bars
from contrapose.tasks.probes.panels import Grid as Grid
from contrapose.tasks.probes.panels import Heading as Heading
from contrapose.tasks.probes.panels import Panel as Panel
from contrapose.tasks.probes.panels import PanelShare as PanelShare
from contrapose.tasks.probes.panels import Picture as Picture
from contrapose.tasks.probes.panels import Quantity as Quantity
from contrapose.tasks.probes.panels import Sheet as Sheet
from contrapose.tasks.probes.panels import shares as shares
from contrapose.tasks.probes.prompt_settings import OwnPromptSettings as OwnPromptSettings
from contrapose.tasks.probes.prompt_settings import PromptSettings as PromptSettings
from contrapose.tasks.probes.prompt_settings import prompts_for as prompts_for
