"""item_order: the items of a list in the prompt change places; does the answer stay?"""

from contrapose.tasks.probes.item_order.probe import ItemOrder
from contrapose.tasks.probes.item_order.settings import ItemOrderSettings

__all__ = ["ItemOrder", "ItemOrderSettings"]
