"""What all packages use: errors, text, checks, paths, documents, the fingerprint, compilation, threads and plugins."""
