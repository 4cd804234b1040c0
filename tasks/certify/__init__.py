"""Certificates of judges: how steady they are, and what sways them."""
