"""Explains to the developer why delivery fails and what to do."""

from __future__ import annotations

from .send import Outcome, Target


def explain_trouble(outcome: Outcome, target: Target, is_spooled: bool) -> str:
    kept = (
        "Steps are kept on disk and sent later."
        if is_spooled
        else "Steps are kept in memory and lost when the process exits."
    )
    if outcome.kind == "unwelcome":
        return (
            f"{target.endpoint} rejected the recorded steps: {outcome.reason}. Check the key "
            "(init(api_key=…) or PLAYHEAD_API_KEY) and the address (init(endpoint=…) or PLAYHEAD_ENDPOINT)."
        )
    if outcome.is_server_there:
        return f"{target.endpoint} can't accept steps right now ({outcome.reason}). {kept}"
    return (
        f"No Playhead server responds at {target.endpoint} ({outcome.reason}). {kept} Start one with "
        '"npx playhead serve", set PLAYHEAD_ENDPOINT, or record to files with init(dir=".playhead").'
    )
