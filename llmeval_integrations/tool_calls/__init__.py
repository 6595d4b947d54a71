"""Read tool calls, and compare them with the expected ones."""
