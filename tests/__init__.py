"""The tests; see docs/architecture.md for what each folder proves."""
