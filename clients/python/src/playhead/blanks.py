"""What JavaScript takes for a blank, to stand inside a class of characters: Python's \\s is another set."""

BLANKS = r"\t-\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
