"""Helpers for continuous integration after an evaluation: a comment on the change, and a badge."""
