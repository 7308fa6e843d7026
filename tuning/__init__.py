"""Search, validation, the Python API and the command line."""
