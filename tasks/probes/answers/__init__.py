"""Shared parts of tests that change a text and compare the answers."""
