"""Tables that travel between rooms by reference, and the columns that they hold."""
