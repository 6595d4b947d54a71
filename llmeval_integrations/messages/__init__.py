"""Read messages, responses and states of applications as text, answer and tool calls."""
