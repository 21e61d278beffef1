"""Numbers, times and values for people to read, in the same words as in TypeScript."""
