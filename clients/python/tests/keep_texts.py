"""Reads texts, keys and rules as JSON, and prints what redaction keeps of them; `python.test.ts` compares it
with what TypeScript keeps."""

from __future__ import annotations

import json
import re
import sys

from playhead.redaction.redact import Redactor
from playhead.settings import RedactRule


def to_rule(rule: dict[str, str]) -> RedactRule:
    # A \b of JavaScript knows no letters but those of ASCII.
    return rule["name"] if "name" in rule else re.compile(rule["pattern"], re.ASCII)


def main() -> None:
    given = json.load(sys.stdin.buffer)
    redactor = Redactor([to_rule(rule) for rule in given["rules"]])
    kept = [redactor.text(text, "x") for text in given["texts"]]
    secret_keys = [key for key in given["keys"] if redactor.is_secret_key(key)]
    print(json.dumps({"kept": kept, "secretKeys": secret_keys}))


if __name__ == "__main__":
    main()
