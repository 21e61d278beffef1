"""The placeholder for a masked secret."""

REDACTED = "[redacted]"
