"""The infer room: cases in, trials out."""
