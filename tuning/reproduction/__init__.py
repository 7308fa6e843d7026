"""How the paper's figures, tables and claims are run again: one file an experiment, in pieces that survive a kill."""
