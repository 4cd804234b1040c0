"""Stage load: turn the rows of a data source into checked samples."""
