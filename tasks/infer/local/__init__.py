"""Models on this machine: prompts are packed into rows and batches."""
