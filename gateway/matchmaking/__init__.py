"""Matchmaking: tickets wait in the queue of their wish, pairing turns them into orders, orders into matches."""
