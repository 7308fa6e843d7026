"""Measurement and fitting of parameter laws."""
