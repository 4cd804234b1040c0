"""What `contrapose` can be told to do: a file for each verb, with its options and what it prints."""
