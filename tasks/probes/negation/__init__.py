"""The test add_negation: negate a prompt by rules, and measure whether the answer changes."""

from contrapose.tasks.probes.negation.engine import negate
from contrapose.tasks.probes.negation.probe import AddNegation, AddNegationSettings
from contrapose.tasks.probes.negation.result import Negation

__all__ = ["AddNegation", "AddNegationSettings", "Negation", "negate"]
