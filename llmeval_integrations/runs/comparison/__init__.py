"""Compares runs."""
