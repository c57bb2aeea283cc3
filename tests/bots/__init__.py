"""The bots' process: promises about budgets, deaths, queues and blindness, kept by real processes."""
