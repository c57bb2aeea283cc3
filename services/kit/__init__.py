"""What every game service shares, written once. Knows no game by name."""
