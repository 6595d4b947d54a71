"""Comparing two JSON values."""
