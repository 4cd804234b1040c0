"""The site of `contrapose view`: pages, and what they list."""
