"""What happened: the swarm, the damage, the radio, and the demands on a recovery."""
