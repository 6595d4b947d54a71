"""Comparing an extraction with what was to be extracted, field by field. Pure functions."""
