"""Evaluations as tests: the plugin of pytest."""
