"""What is said of stored runs: statistics, tables, figures and pages. Runs no planner."""
