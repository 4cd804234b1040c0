"""Helpers of continuous integration after an evaluation: one comment, and a badge."""
