"""Models that run on this machine: they compute prompts in packed rows and batches."""
