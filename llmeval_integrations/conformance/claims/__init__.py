"""The banks of cases, one file per claim: `CASES` and `GROWTHS`."""
