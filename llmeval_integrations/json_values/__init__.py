"""Parse JSON texts into values or defects; equality, canonical text and pointers."""
