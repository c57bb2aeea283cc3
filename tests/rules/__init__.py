"""Rules of the games, one folder each."""
