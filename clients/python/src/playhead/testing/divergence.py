"""Where a failed session first does something else than one that passed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Optional

from .align.first_divergence import find_divergence
from .load_session import fetch_json, fetch_session
from .subject import SessionJson

_TIMEOUT_S = 10.0
# Servers that did not answer: each failed test would wait for them again.
_silent: set[str] = set()


def describe_divergence(passed: SessionJson, failed: SessionJson) -> Optional[str]:
    """For example: step 3 fetch_customer_data, argument customer_id null instead of "c_42".

    Ignores a divergence in the session's own result: that a failed test failed is no news.
    """
    divergence = find_divergence(passed, failed)
    if divergence is None or (divergence.depth == 0 and divergence.difference.kind == "result"):
        return None
    return divergence.describe()


def describe_divergence_from_last_pass(
    endpoint: Optional[str], test: Mapping[str, Any], session: SessionJson
) -> Optional[str]:
    """If the server has a passing run of the same test. Never raises."""
    from urllib.parse import urlencode

    if endpoint is None or endpoint in _silent:
        return None
    title = test["name"] if test.get("suite") is None else f"{test['suite']} > {test['name']}"
    query = {
        "status": "success",
        "reruns": "exclude",
        "limit": "1",
        "test": title,
        "testFile": test.get("file"),
        "variant": test.get("variant"),
    }
    try:
        wanted = urlencode({name: value for name, value in query.items() if value is not None})
        found = fetch_json(f"/api/sessions?{wanted}", endpoint, timeout_s=_TIMEOUT_S)["sessions"]
        if not found:
            return None
        divergence = describe_divergence(fetch_session(found[0]["id"], endpoint=endpoint), session)
    except OSError:
        _silent.add(endpoint)
        return None
    except Exception:
        return None
    return None if divergence is None else f"first divergence from the last passing run: {divergence}"
