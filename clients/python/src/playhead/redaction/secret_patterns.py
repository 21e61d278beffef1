"""Masks keys, tokens, private keys, card numbers and values under a secret's name."""

from __future__ import annotations

import re

from . import BLANKS, REDACTED
from .card_numbers import CARD_SIGN, mask_cards
from .named_secrets import mask_named

# The start of a word, also after JSON's \n, \t or \u00fc, which end in a letter or digit.
_BEGIN = r"(?:(?<!\w)|(?<=\\[bfnrt])|(?<=\\u[\da-fA-F]{4}))"
# The same for hyphenated words; each is checked once, however many starts it seems to have.
_BEGIN_WITH_HYPHENS = _BEGIN.replace(r"\w", r"[\w-]")

# A cheap pre-check that rules out most texts.
_TOKEN_SIGN = re.compile(
    r"k[-_][\w-]{8}|[-_][A-Za-z0-9]{20}|[KS]IA[A-Z0-9]{4}|Iza|xox[a-z]-|eyJ|-----B|(?:earer|asic) "
    rf"|:\\?/\\?/[^{BLANKS}/@]{{1,200}}@|lpat-|SPX-|a29\.|SG\.|(?:RER|SIC) ",
    re.ASCII,
)

# Secrets with a known prefix.
_PREFIXED = [
    # OpenAI, Anthropic, OpenRouter, Langfuse and similar; not plain hyphenated words.
    r"sk-(?=[a-z_-]{0,40}[A-Z0-9]|[a-z]{16})[\w-]{16,}",
    # Stripe.
    r"(?:[rsp]k_(?:live|test)|whsec)_[A-Za-z0-9]{10,}",
    r"gh[opsur]_[A-Za-z0-9]{20,}|github_pat_\w{20,}",
    r"glpat-[\w-]{16,}|npm_[A-Za-z0-9]{30,}",
    # Groq, Hugging Face, Replicate, Fireworks, Pinecone, LangSmith.
    r"(?:gsk|hf|r8|fw|pcsk|lsv2_pt|lsv2_sk)_[A-Za-z0-9]{24,}(?:_\w{6,})?",
    # xAI, Perplexity, Tavily.
    r"(?:xai|pplx|tvly)-(?=[a-z-]{0,40}[A-Z0-9])[A-Za-z0-9-]{24,}",
    # AWS.
    r"A[KS]IA[A-Z0-9]{16}(?![A-Za-z0-9])",
    # Google: keys, tokens, client secrets. SendGrid.
    r"AIza[\w-]{30,}|ya29\.[\w-]{20,}|GOCSPX-[\w-]{20,}|SG\.[\w-]{16,}\.[\w-]{16,}",
    # Slack.
    r"(?:xox[abeoprs]-|xapp-\d-)[A-Za-z0-9-]{10,}",
    r"phs?_[A-Za-z0-9]{30,}",
]
# Signed and encrypted tokens.
_JWT = rf"{_BEGIN_WITH_HYPHENS}eyJ[\w-]{{8,}}\.(?:[\w-]{{8,}}|(?=\.))(?:\.[\w-]*){{0,3}}"
_KEY_KIND = r"[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
# A key without its end was truncated; match as much as a key can have.
_PRIVATE_KEY = (
    rf"-----BEGIN {_KEY_KIND}(?:(?:(?!-----B)[\s\S]){{0,20000}}?-----END {_KEY_KIND}"
    r'|(?:[^"\\]|\\+[nrt/]){0,20000})'
)

# One expression, so the secret that starts first is masked whole even if another could start inside it.
_TOKENS = re.compile(f"{_BEGIN}(?:{'|'.join(_PREFIXED)})|{_JWT}|{_PRIVATE_KEY}", re.ASCII)
_CREDENTIALS = re.compile(
    rf"({_BEGIN}(?:[Bb]earer|BEARER|[Bb]asic|BASIC) {{1,4}})"
    r"(?=[a-z_.~+/=-]{0,60}[A-Z0-9])[\w.~+/=-]{16,}",
    re.ASCII,
)
_PASSWORD_OF_URL = re.compile(
    rf"""(:\\?/\\?/[^{BLANKS}:/@"']{{0,100}}:)[^{BLANKS}/"'<>,;?#]{{1,200}}(?=@)""", re.ASCII
)

_SHORTEST_SECRET = 9


def mask_secrets(text: str) -> str:
    """Mask everything that looks like a secret; returns the same text if there is nothing to mask."""
    if len(text) < _SHORTEST_SECRET:
        return text
    masked = text if _TOKEN_SIGN.search(text) is None else _mask_tokens(text)
    if CARD_SIGN.search(masked) is not None:
        masked = mask_cards(masked)
    return mask_named(masked)


def _mask_tokens(text: str) -> str:
    text = _CREDENTIALS.sub(_after_first_group, text)
    text = _PASSWORD_OF_URL.sub(_after_first_group, text)
    return _TOKENS.sub(REDACTED, text)


def _after_first_group(found: re.Match[str]) -> str:
    return found.group(1) + REDACTED
