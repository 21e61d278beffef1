"""Prices model calls."""
