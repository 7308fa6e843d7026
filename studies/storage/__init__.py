"""JSON Schemas of the files that are read and written."""
