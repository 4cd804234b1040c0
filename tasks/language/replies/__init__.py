"""Read free replies: find the option that a reply chooses, or the reason why it chooses none."""
