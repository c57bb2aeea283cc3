"""Discovery: which pods there are. The static adapter reads a setting; others ask a cluster."""
