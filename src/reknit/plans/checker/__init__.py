"""The independent checker: imported by `plan()` and by `Plan.verify`, and by nothing else."""
