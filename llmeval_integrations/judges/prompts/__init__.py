"""What judges say to a model: templates, their syntaxes, and the fences around foreign text."""
