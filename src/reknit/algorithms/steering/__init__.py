"""Planners that steer at every step."""
