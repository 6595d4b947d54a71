"""What applications hand over: messages, responses and states, read as text, answer and calls."""
