"""Stage: validate. With a table that breaks its schema, no model is asked and nothing is published."""
