"""What a run would ask, take and cost, told before it is."""
