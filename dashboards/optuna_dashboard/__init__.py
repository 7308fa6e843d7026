"""The Optuna dashboard: server, access control, and the notes and figures attached to studies."""
