"""History: what became of matches. Results are brought from the games; players read their own lists."""
