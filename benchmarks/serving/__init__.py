"""The parts of `benchmarks.bench_serve`."""
