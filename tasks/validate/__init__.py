"""Validate stage: check every table between stages; if one breaks its schema, the run stops."""
