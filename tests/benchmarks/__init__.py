"""The benchmarks' own parts, where they make documents."""
