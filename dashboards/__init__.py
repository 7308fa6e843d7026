"""Figures, web pages and the Optuna dashboard."""
