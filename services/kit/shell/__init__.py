"""The process shell: what every process of the platform has, whatever it serves."""
