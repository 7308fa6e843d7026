"""The report: everything that a storage knows, on one HTML page that needs no network.

`gather` reads and plays, `page` says it in words and figures, section by section, `render` writes the HTML.
"""
