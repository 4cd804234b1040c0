"""order_bias: two summaries stand as A and B, then swapped; does the model follow the facts or the position?"""

from contrapose.tasks.probes.order_bias.probe import OrderBias, OrderBiasSettings
from contrapose.tasks.probes.order_bias.reply import LetterChoice, read_choice

__all__ = ["LetterChoice", "OrderBias", "OrderBiasSettings", "read_choice"]
