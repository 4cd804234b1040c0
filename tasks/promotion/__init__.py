"""Promotion of retrained models: checks, decision and notification."""
