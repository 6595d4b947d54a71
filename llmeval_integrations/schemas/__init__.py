"""JSON Schemas: parsing, references, patterns, validation and errors."""
