"""Models that run on this machine: prompts packed into rows and batches, and read as sparingly as possible."""
