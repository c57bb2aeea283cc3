"""Corsari: every rule, decision and clarification of the dossier."""
