"""Web pages: the model of each page; templates and style sheets are in `templates`."""
