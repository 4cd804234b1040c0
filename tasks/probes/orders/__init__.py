"""Tests that show two texts, options or items in several orders: what they share."""
