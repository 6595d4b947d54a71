"""The `llmeval` command."""
