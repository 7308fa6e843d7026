"""The report: all results of a storage on one HTML page that needs no network.

`data` loads and simulates, `page` builds the page and renders it; the other modules write its sections.
"""
