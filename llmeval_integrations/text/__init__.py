"""Distances, n-grams and tokenizers of plain text."""
