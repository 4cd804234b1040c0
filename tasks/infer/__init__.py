"""Stage: infer. Cases in, trials out."""
