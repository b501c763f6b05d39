"""Lower bounds on the recovery time, each with a proof that anyone can check."""
