"""`expect(session)`: the matchers for a session, and their opposites."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Optional

from ..format.lines import safe_for_log
from .called import called, has_no_loops
from .cost import costs_less_than
from .expected_call import ExpectedCall
from .judge import Judge, judged
from .limits import Duration, finishes_within, has_no_errors
from .order_rules import OrderRule, satisfies_order
from .subject import SessionSubject, read_subject
from .trajectory import called_in_order, has_effects, matches_trajectory
from .verdict import Verdict

# The step shown by the last failed matcher of each session, by session id.
_failing_steps: dict[str, str] = {}


def failing_step_of(session_id: str) -> Optional[str]:
    return _failing_steps.get(session_id)


class SessionExpectation:
    """The matchers of a session. A failed one raises an AssertionError that says why."""

    def __init__(self, subject: SessionSubject, is_not: bool = False) -> None:
        self._subject = subject
        self._is_not = is_not

    @property
    def not_(self) -> SessionExpectation:
        """The opposites: `expect(session).not_.to_have_called("issue_refund")`."""
        return SessionExpectation(self._subject, not self._is_not)

    def to_have_called(
        self,
        name: str,
        *,
        args: Any = None,
        times: Optional[int] = None,
        agent: Optional[str] = None,
        mode: str = "partial",
        ignore: Sequence[str] = (),
        defaults: Optional[Mapping[str, Any]] = None,
    ) -> None:
        """The session called an action, optionally with which arguments and how often."""
        __tracebackhide__ = True
        options = {"times": times, "agent": agent, "mode": mode, "ignore": ignore, "defaults": defaults}
        self._require(called(self._subject, name, args=args, **options))  # type: ignore[arg-type]

    def to_have_called_in_order(self, calls: Sequence[ExpectedCall], *, exact: bool = False) -> None:
        """The session made these calls in this order; others may come in between, unless `exact`."""
        __tracebackhide__ = True
        self._require(called_in_order(self._subject, calls, exact=exact))

    def to_satisfy_order(self, *rules: OrderRule) -> None:
        """The calls satisfy rules about their order: `before("fetch_customer_data", "issue_refund")`."""
        __tracebackhide__ = True
        self._require(satisfies_order(self._subject, *rules))

    def to_match_trajectory(self, calls: Sequence[ExpectedCall], *, mode: str = "exact") -> None:
        """The calls match a list; `mode` decides how strictly."""
        __tracebackhide__ = True
        self._require(matches_trajectory(self._subject, calls, mode=mode))

    def to_have_effects(self, calls: Sequence[ExpectedCall], *, in_order: bool = False) -> None:
        """The session made exactly these writes, whatever it read."""
        __tracebackhide__ = True
        self._require(has_effects(self._subject, calls, in_order=in_order))

    def to_cost_less_than(
        self,
        usd: Optional[float] = None,
        *,
        tokens: Optional[float] = None,
        llm_calls: Optional[float] = None,
    ) -> None:
        """The session cost less than this in US dollars, or stayed below every limit that is set."""
        __tracebackhide__ = True
        self._require(costs_less_than(self._subject, usd, tokens=tokens, llm_calls=llm_calls))

    def to_finish_within(self, limit: Duration, *, per_tool: Optional[Mapping[str, Duration]] = None) -> None:
        """The session finished in time: "8s"."""
        __tracebackhide__ = True
        self._require(finishes_within(self._subject, limit, per_tool=per_tool))

    def to_have_no_errors(self, *, allow_handled: bool = False) -> None:
        """No step raised an error, and no tool returned one."""
        __tracebackhide__ = True
        self._require(has_no_errors(self._subject, allow_handled=allow_handled))

    def to_have_no_loops(self, *, max: int = 2, allow: Sequence[str] = ()) -> None:
        """No call with the same arguments was made more than twice."""
        __tracebackhide__ = True
        self._require(has_no_loops(self._subject, max=max, allow=allow))

    def to_be_judged(self, judge: Judge, *, at_least: float = 0.5, name: str = "judge") -> None:
        """A judge that you write accepts the session. Its calls are recorded and priced like any other."""
        __tracebackhide__ = True
        self._require(judged(self._subject, judge, at_least=at_least, name=name))

    def _require(self, verdict: Verdict) -> None:
        __tracebackhide__ = True
        # An undecided check fails both with and without `not_`.
        if not verdict.is_undecided and verdict.passed != self._is_not:
            return
        session_id = read_subject(self._subject)["session"]["id"]
        if verdict.step_id is not None:
            _failing_steps[session_id] = verdict.step_id
        raise AssertionError(safe_for_log(verdict.message))


def expect(session: SessionSubject) -> SessionExpectation:
    """The matchers for a session: that of a test, a recording, or one from the server.

    expect(playhead_session).to_have_called("fetch_customer_data", args=["c_42"], times=1)
    """
    read_subject(session)
    return SessionExpectation(session)
