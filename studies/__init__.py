"""What is searched and what was found."""
