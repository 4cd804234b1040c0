"""Texts as people read them: cleaned, masked, worded, and what was changed in them."""
