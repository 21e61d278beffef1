"""Calls to models, recorded while they pass by: nothing but `init` is needed."""
