"""Asks a judge that the user writes about a session."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping
from typing import Any, Callable, Optional, Union

from ..session_view import SessionView
from .subject import SessionJson, SessionSubject, read_subject, replay_line
from .verdict import Verdict

# True, False or a number to compare with at_least, or {"value": ..., "comment": ..., "step_id": ...}.
Judgement = Union[bool, float, Mapping[str, Any]]
Judge = Callable[[SessionJson], Judgement]


def judged(subject: SessionSubject, judge: Judge, *, at_least: float = 0.5, name: str = "judge") -> Verdict:
    """Ask a judge about a session. The session of a running test gets what the judge says as a score."""
    session = read_subject(subject)
    if not callable(judge):
        raise TypeError(
            "to_be_judged needs a function that takes the session: to_be_judged(lambda session: True)."
        )
    if not _is_number(at_least):
        raise TypeError("at_least must be a number.")
    if not isinstance(name, str) or name == "":
        raise TypeError("name must be a text.")
    value, comment, step_id = _read(judge(session))
    if isinstance(subject, SessionView):
        subject.score(name, value, source="model", comment=comment, step=step_id)
    if isinstance(value, bool):
        passed, said = value, "yes" if value else "no"
    else:
        passed, said = value >= at_least, f"{value:g}, at least {at_least:g} was expected"
    verb = "reject" if passed else "accept"
    why = "" if comment is None else f"\n  {comment}"
    message = f'Expected the judge "{name}" to {verb} the session, but it said {said}.{why}'
    return Verdict(passed, message + replay_line(session["session"], step_id), step_id)


def _read(given: Any) -> tuple[Union[bool, float], Optional[str], Optional[str]]:
    if inspect.isawaitable(given):
        close = getattr(given, "close", None)
        if close is not None:
            close()
        raise TypeError(
            "The judge returned a coroutine. Run it inside the judge, for example with asyncio.run()."
        )
    said = given if isinstance(given, Mapping) else {"value": given}
    value: Any = said.get("value")
    comment, step_id = said.get("comment"), said.get("step_id")
    if not isinstance(value, bool) and not _is_number(value):
        raise TypeError(
            "The judge must return True, False, a number, or a dict with value and comment, "
            'for example {"value": 0.8, "comment": "polite"}.'
        )
    return value, _text(comment), _text(step_id)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and not math.isnan(value)


def _text(value: Any) -> Optional[str]:
    return value if isinstance(value, str) and value != "" else None
