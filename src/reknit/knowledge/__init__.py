"""What each UAV knows: beliefs, channels, policies, and recovery flown with partial knowledge."""
