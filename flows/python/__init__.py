"""Python functions that `import contrapose` offers: run, comparison and preview with plain arguments."""
