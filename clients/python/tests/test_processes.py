"""Work in other processes belongs to the session that it is done for, and arrives before they end."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from typing import Any

from .process_matrix import WAYS
from .support import ENDPOINT, HERE, fetch, fetch_session, run_program

# Each way starts processes of its own, so `npm test` runs those that differ most; `--long` runs all.
SAMPLE = (
    "fork_by_hand",
    "process_spawn",
    "pool_fork",
    "prefork_server",
    "queue_workers",
    "process_terminated",
)
CHOSEN = tuple(WAYS) if os.environ.get("PLAYHEAD_LONG") else SAMPLE
# What SIGKILL interrupts has no chance to send anything.
KILLED = "process_killed"
STOPPED = ("process_terminated", "spawned_process_terminated")


# As the next start of any program does.
SEND_SPOOLED = """
import pathlib, sys, time, playhead
playhead.init()
until = time.monotonic() + 30
while any(path.is_file() for path in pathlib.Path(sys.argv[1]).rglob("*")):
    assert time.monotonic() < until, "what was set aside was not sent"
    time.sleep(0.05)
"""


@unittest.skipIf(ENDPOINT == "" or not hasattr(os, "fork"), "run scripts/test-python.mjs")
class ProcessTest(unittest.TestCase):
    run_id: int
    sessions: dict[str, str]

    @classmethod
    def setUpClass(cls) -> None:
        path = os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")])
        # What a slow machine does not deliver in the time that a process has at its end waits there.
        spool = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, spool)
        done = subprocess.run(
            [sys.executable, str(HERE / "process_matrix.py"), *CHOSEN],
            env={**os.environ, "PYTHONPATH": path, "PLAYHEAD_SPOOL": spool},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        if done.returncode != 0 or "Traceback" in done.stderr:
            raise AssertionError(done.stderr)
        sent = run_program(SEND_SPOOLED, spool, PLAYHEAD_SPOOL=spool)
        if sent.returncode != 0:
            raise AssertionError(sent.stderr)
        found = json.loads(done.stdout)
        cls.run_id, cls.sessions = found["run"], found["sessions"]

    def test_inside_a_session_every_step_is_a_step_of_it(self) -> None:
        for name, session_id in self.sessions.items():
            with self.subTest(name):
                whole = fetch_session(session_id)
                steps = whole["steps"]
                numbers = sorted(step["input"]["number"] for step in steps if step["name"] == "work")
                if name != KILLED:
                    self.assertEqual(numbers, [-2, -1, 0, 1])
                # The process that started the session ended it, and nobody else.
                self.assertEqual(whole["session"]["endState"], "success")
                self.assertEqual(len({step["id"] for step in steps}), len(steps))
                root = steps[0]["id"]
                self.assertEqual({step["parentId"] for step in steps[1:]}, {root})
                waiting = [step["status"] for step in steps if step["name"] == "wait"]
                self.assertEqual(waiting, ["running"] if name in STOPPED else [])

    def test_outside_of_a_session_each_process_has_sessions_of_its_own(self) -> None:
        for name in CHOSEN:
            if name == KILLED:
                continue
            with self.subTest(name):
                tagged = self.tagged(f"{name} {self.run_id} outside")
                if name in STOPPED:
                    (session,) = tagged
                    ended = ("indeterminate", "The process was ended by SIGTERM", 3)
                    found = (session["endState"], session.get("endStateReason"), session["actionCount"])
                    self.assertEqual(found, ended)
                    continue
                self.assertEqual([one["endState"] for one in tagged], ["success"] * 2)
                self.assertEqual([one["actionCount"] for one in tagged], [1, 1])

    def test_nothing_else_was_recorded(self) -> None:
        for name in CHOSEN:
            self.assertEqual(len(self.tagged(f"{name} {self.run_id} inside")), 1)

    def tagged(self, tag: str) -> list[Any]:
        sessions: list[Any] = fetch(f"/api/sessions?limit=50&tag={tag.replace(' ', '%20')}")["sessions"]
        return sessions
