"""Our figures beside published ones, record by record."""
