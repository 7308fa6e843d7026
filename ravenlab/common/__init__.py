"""What all packages use: errors, text, checks, paths, cards, the fingerprint, compilation, threads and plugins."""
