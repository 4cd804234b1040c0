"""Forecast of a run before it starts: calls, tokens, time and cost."""
