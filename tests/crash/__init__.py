"""Crashes: real processes killed and stopped under real matches; a judge of its own compares journals with the log."""
