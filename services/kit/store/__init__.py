"""Where matches and their logs are kept: a port with its promises, and adapters."""
