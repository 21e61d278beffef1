"""Answers a run from a cassette instead of the network and its tools."""
