"""What `contrapose doctor` looks at, a file for each thing."""
