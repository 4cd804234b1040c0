"""Tests that change a text and look at what becomes of the answer: what they share."""
