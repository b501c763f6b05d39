"""What a UAV does with its belief."""
