"""One file per evaluator, or per small family."""
