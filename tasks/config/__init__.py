"""Configuration of a run: suites, models, prices and secrets."""
