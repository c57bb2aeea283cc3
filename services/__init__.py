"""Tortuga's processes: the kit, the games, the bots, the client and the command line."""
