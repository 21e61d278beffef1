"""What stands where a secret was."""

REDACTED = "[redacted]"
