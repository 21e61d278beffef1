"""Masks secrets before anything leaves the process."""

# The placeholder for a masked secret.
REDACTED = "[redacted]"
# JavaScript's whitespace, for use inside a character class; Python's \s is a different set.
BLANKS = r"\t-\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
