"""Tuning one setting for several scenarios."""
