"""How it is searched, and the command line."""
