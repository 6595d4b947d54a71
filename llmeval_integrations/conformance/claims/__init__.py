"""The claims of evaluators: a module for each claim, with its cases."""
