"""Stage: evaluate. Trials in, results out."""
