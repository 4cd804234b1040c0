"""Python functions that `import contrapose` offers: a run, a comparison and a preview with plain arguments."""
