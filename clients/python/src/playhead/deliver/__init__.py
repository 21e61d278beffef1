"""Delivers steps to the server: in batches, with retries, spooled to disk while the server is down."""
