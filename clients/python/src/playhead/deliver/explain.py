"""What the developer should know and do when nothing can be delivered."""

from __future__ import annotations

from .send import Outcome, Target


def explain_trouble(outcome: Outcome, target: Target, is_spooled: bool) -> str:
    kept = (
        "Steps are kept on disk and sent when it does."
        if is_spooled
        else "Steps are kept in memory, and lost when the process ends."
    )
    if outcome.kind == "unwelcome":
        return (
            f"{target.endpoint} refused what was recorded: {outcome.reason}. Check the key "
            "(init(api_key=…) or PLAYHEAD_API_KEY) and the address (init(endpoint=…) or PLAYHEAD_ENDPOINT)."
        )
    if outcome.is_server_there:
        return f"{target.endpoint} can't take steps at the moment ({outcome.reason}). {kept}"
    return (
        f"No Playhead server answers at {target.endpoint} ({outcome.reason}). {kept} Start one with "
        '"npx playhead serve", set PLAYHEAD_ENDPOINT, or record to files with init(dir=".playhead").'
    )
