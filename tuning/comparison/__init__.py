"""The fair fight, run: entries played, judged and gone on with."""
