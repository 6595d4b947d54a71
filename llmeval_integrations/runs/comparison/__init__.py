"""What is better in one run than in another, and what is worse."""
