"""What evaluators claim: a file for each claim, with its cases."""
