"""Forecast a run before it starts: calls, tokens, time, cost, and what its cases can decide."""
