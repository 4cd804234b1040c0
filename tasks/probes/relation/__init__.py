"""A relation of the user's own: two texts from the data or from a function, and what the answer should do."""

from contrapose.tasks.probes.relation.probe import Relation
from contrapose.tasks.probes.relation.settings import Becomes, RelationSettings

__all__ = ["Becomes", "Relation", "RelationSettings"]
