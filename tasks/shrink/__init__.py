"""Shrink a text to the fewest words that still make a test fail."""
