"""Studies behind the figures in README and docs, on one harness (`tools.evidence.harness`)."""
