"""Many pieces of work side by side, within the limits of servers and budgets."""
