"""Evaluate stage: score the trials of each test, and decide its verdict."""
