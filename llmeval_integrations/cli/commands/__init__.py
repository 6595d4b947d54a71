"""The subcommands of `llmeval`, one file each: `HELP`, `add_arguments` and `run`."""
