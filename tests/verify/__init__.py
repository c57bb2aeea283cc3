"""The proof of fairness: vectors, tampering, exports, the commands, and that nothing leaks before the end."""
