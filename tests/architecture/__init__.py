"""The architecture, held by tests (design §8)."""
