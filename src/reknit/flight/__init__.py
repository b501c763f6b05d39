"""The simulator: how survivors move, and the exact instant at which they are connected again."""
