"""Aligns two sessions step by step, by the rules of the model's `align` room in TypeScript."""
