"""Parts of the docs that are made from the code, so that they can't drift from it."""
