"""One file per framework that uses our evaluators: they call us."""
