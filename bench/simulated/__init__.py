"""What simulations draw, and what they find: one file for each question."""
