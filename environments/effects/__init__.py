"""Effects: each file is one kind of change, and the folder is the list of them."""
