"""Texts for people: cleaned, masked, put in words, and compared."""
