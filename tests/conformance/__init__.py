"""Conformance: every promise that a game makes to the platform, checked for any game. `suite.py` says how to run it."""
