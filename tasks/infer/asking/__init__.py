"""How something that answers one request at a time is asked thousands: limits, retries, and when to give it up."""
