"""The gateway: identity, matchmaking, attachments and links, discovery and the browser edge. Knows no game by name."""
