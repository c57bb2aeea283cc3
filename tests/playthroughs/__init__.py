"""Golden playthroughs: whole matches in words, to be read as code when they change."""
