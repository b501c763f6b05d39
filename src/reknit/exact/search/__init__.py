"""Trees of links, their improvement, and the branching that proves bounds."""
