"""Compare two JSON values."""
