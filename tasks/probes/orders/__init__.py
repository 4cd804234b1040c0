"""Shared parts of tests that show two texts, options or list items in several orders."""
