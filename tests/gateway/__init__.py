"""The gateway: its store, its pure parts, and its services through a real server."""
