"""The load room: rows of a data source in, checked samples out."""
