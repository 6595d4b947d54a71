"""Calls of tools: reading them, and comparing them with those that were expected."""
