"""Turn a text into its opposite, and measure whether a model notices."""

from contrapose.tasks.probes.negation.engine import negate
from contrapose.tasks.probes.negation.probe import AddNegation, AddNegationSettings
from contrapose.tasks.probes.negation.result import Negation

__all__ = ["AddNegation", "AddNegationSettings", "Negation", "negate"]
