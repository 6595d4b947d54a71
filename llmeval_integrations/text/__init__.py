"""Distances, tokens, words, numbers and dates of plain text."""
