"""Measurements, each with the command that makes it. Ratios within one run count; absolute times do not."""
