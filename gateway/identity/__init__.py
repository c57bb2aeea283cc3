"""Who a player is: guests for now, their names, their tokens, and the keys that sign them."""
