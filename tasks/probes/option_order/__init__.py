"""option_order: the options of a question move from letter to letter; does the choice move with them?"""

from contrapose.tasks.probes.option_order.probe import OptionOrder, OptionOrderSettings

__all__ = ["OptionOrder", "OptionOrderSettings"]
