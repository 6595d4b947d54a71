"""Compare an extraction with its reference, field by field."""
