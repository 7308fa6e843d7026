"""Traces and logs: file readers, segments and replications."""
