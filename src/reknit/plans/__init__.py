"""What a planner returns, what proves it, and the checker that believes neither."""
