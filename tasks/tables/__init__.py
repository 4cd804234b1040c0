"""Tables that stages pass on by reference, and their columns."""
