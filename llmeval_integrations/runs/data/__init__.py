"""The data of a run: files, DataFrames, tables and lists, each read as numbered rows."""
