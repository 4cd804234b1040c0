"""Tests that edit a text by rules: some edits change its meaning, the others keep it."""
