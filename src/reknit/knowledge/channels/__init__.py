"""How news travels: over the radio, through a ground station, or both."""
