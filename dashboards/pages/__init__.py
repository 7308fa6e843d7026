"""Web pages: one folder per page with its model, template and style sheet."""
