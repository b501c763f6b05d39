"""The exact method: cone programs, a search over trees, proofs of bounds."""
