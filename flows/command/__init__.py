"""What the command offers, a file each; `cli` puts them together."""
