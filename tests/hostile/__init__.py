"""Clients that mean harm, against real processes: what they may cost others in time, and the platform in memory."""
