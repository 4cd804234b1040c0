"""Room: compare. Finished runs, side by side."""
