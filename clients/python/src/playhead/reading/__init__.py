"""Reads recorded spans as the server does: steps, their errors and usage, and the session that they make."""
