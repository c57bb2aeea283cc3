"""The benchmarks: that they run, print what scripts rely on, and would notice a lost action. No figure is judged."""
