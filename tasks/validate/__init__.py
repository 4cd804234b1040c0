"""The validate room: nothing is asked, and nothing is published, that breaks the schema."""
