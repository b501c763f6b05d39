"""Carrying out the runs of a study: one by one, on this machine or on a cluster."""
