"""What a free reply states: which letter it chooses, or why none. Shared by the probes that offer options."""
