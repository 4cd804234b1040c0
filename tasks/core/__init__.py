"""What every part of the house knows: records, errors, tables of names, policy."""
