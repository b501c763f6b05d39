"""The search by clauses, in C: many small geometric tests that Python is slow at."""
