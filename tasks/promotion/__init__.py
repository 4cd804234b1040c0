"""Retrained models: what is checked, what is decided, and how a promotion is told."""
