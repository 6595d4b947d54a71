"""Logs of other tools, read as runs."""
