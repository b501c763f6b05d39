"""Lower bounds and the certificates that prove them."""
