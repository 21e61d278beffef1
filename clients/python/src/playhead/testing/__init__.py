"""For tests of agents: matchers for sessions, and agents that are started by their name.

from playhead.testing import before, expect

def test_a_refund_needs_customer_data(playhead_session):
    run_support_agent("I was charged twice")
    expect(playhead_session).to_have_called("fetch_customer_data", args=["c_42"], times=1)
    expect(playhead_session).to_satisfy_order(before("fetch_customer_data", "issue_refund"))
"""

from __future__ import annotations

from ..project import ProjectError
from ..tape.active import TapeMissError
from .agents import null_arguments, run_agent, writes
from .called import called, has_no_loops
from .calls import Call
from .cost import costs_less_than
from .expect import SessionExpectation, expect
from .expected_call import AnyOrder, ExpectedCall, any_order
from .limits import Duration, finishes_within, has_no_errors
from .load_session import fetch_session, open_recording
from .order_rules import OrderRule, before, directly_before, never_both, satisfies_order
from .subject import SessionJson, SessionSubject
from .trajectory import called_in_order, has_effects, matches_trajectory
from .variations import Variations, variations
from .verdict import Verdict

__all__ = [
    "AnyOrder",
    "Call",
    "Duration",
    "ExpectedCall",
    "OrderRule",
    "ProjectError",
    "SessionExpectation",
    "SessionJson",
    "SessionSubject",
    "TapeMissError",
    "Variations",
    "Verdict",
    "any_order",
    "before",
    "called",
    "called_in_order",
    "costs_less_than",
    "directly_before",
    "expect",
    "fetch_session",
    "finishes_within",
    "has_effects",
    "has_no_errors",
    "has_no_loops",
    "matches_trajectory",
    "never_both",
    "null_arguments",
    "open_recording",
    "run_agent",
    "satisfies_order",
    "variations",
    "writes",
]
