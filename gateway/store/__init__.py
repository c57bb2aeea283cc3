"""The gateway's own store: players, tickets, orders, matches. A port in prose, and its adapters."""
