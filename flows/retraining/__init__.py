"""The check of a retrained model: comparison, decision, approval and verdict."""
