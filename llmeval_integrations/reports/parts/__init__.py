"""What the formats are put together from."""
