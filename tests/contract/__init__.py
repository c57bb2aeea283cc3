"""The contracts: what every game, present and future, has to hold (design §3)."""
