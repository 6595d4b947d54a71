"""Prompts of judges: their templates, and the parts of a sample that they show."""
