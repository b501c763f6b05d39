"""The instance library: named, frozen scenarios with the best plan and bound known for each."""
