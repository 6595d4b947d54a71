"""What all evaluators share: samples, results, errors and options."""
