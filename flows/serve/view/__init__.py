"""The site of `contrapose view`: its pages, and the runs that they list."""
