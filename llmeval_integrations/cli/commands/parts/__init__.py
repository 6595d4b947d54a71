"""What subcommands are made of: how runs are written down, planned and held to thresholds."""
