"""The bots' process: it chooses and suggests actions over what one seat sees, and nothing else (docs/adr/0005)."""
