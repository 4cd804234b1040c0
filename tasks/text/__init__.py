"""Prepare texts for people: clean, mask, format and compare them."""
