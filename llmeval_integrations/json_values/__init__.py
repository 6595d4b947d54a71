"""JSON: from text to value or defect, equality, canonical text, pointers."""
