"""Experiments as data, the runner that survives being killed, and the reports."""
