"""Planners with a neural network, one folder a method, equal parts under equal names."""
