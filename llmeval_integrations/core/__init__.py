"""What every evaluator shares: samples, results, errors, options."""
