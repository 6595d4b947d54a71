"""Where rows come from: files, DataFrames, tables and lists, each read as records."""
