"""Programs for developers that are neither part of the package nor tests."""
