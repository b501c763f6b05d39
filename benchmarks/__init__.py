"""Speed and memory; never part of the test run."""
