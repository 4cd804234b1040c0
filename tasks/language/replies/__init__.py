"""Reading of free replies: which option a reply chooses, or why none."""
