"""What every part needs and that needs none of them: errors, arrays, files, progress, budgets."""
