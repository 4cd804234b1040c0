"""Stage: load. Rows of a data source in, checked samples out."""
