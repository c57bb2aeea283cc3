"""A game from outside: Nim, whole, in a package of its own (`nim/`), played from its wheel beside the platform's."""
