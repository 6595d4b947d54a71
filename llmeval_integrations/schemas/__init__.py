"""JSON Schemas: finding one's way in them, what their patterns cost, and what violates them."""
