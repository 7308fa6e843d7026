"""The report: everything that a storage knows, on one HTML page that needs no network.

`gather` reads and plays, `summary` says it in words, `panels` draws, `render` writes the page.
"""
