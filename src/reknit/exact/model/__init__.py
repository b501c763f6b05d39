"""The problem (P1) of one scenario and its cone programs."""
