"""Tables that travel between stages by reference, and their columns."""
