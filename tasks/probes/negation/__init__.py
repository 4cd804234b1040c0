"""Turn a text into its opposite, and measure whether a model notices."""

from contrapose.tasks.probes.negation.engine import negate
from contrapose.tasks.probes.negation.probe import AddNegation
from contrapose.tasks.probes.negation.result import Negation
from contrapose.tasks.probes.negation.settings import AddNegationSettings

__all__ = ["AddNegation", "AddNegationSettings", "Negation", "negate"]
