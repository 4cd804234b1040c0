"""Tests that you define: two texts from your data or function, and how the answer should behave."""

from contrapose.tasks.probes.relation.probe import Relation
from contrapose.tasks.probes.relation.settings import Becomes, RelationSettings

__all__ = ["Becomes", "Relation", "RelationSettings"]
