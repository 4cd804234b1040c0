"""What `import contrapose` offers: a run, a comparison and a preview as functions with plain arguments."""
