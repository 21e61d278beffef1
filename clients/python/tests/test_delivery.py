"""What was recorded arrives, however the process or the server ends; the host never waits for it."""

from __future__ import annotations

import gzip
import http.server
import json
import os
import signal
import subprocess
import sys
import threading
import unittest
from pathlib import Path
from typing import Any, ClassVar
from unittest import mock

import playhead
from playhead.deliver.recording_files import file_name
from playhead.session_record import SessionRecord
from playhead.span import Span

from .support import ENDPOINT, ROOT, RecordingTest, fetch_session, run_program, wait_for

PROGRAM = """
import playhead, sys
playhead.init()
@playhead.record_action("work")
def work(key): return key
playhead.start_session(tags=["program"])
print(playhead.get_session().id, flush=True)
work("a")
"""


@playhead.record_action("work")
def work(key: str) -> str:
    return key


class StandIn:
    """A server that answers as it is told, and keeps what it was sent."""

    def __init__(self, status: int = 200, headers: dict[str, str] | None = None, port: int = 0) -> None:
        self.status, self.headers = status, headers or {}
        # Cleared, it answers nobody.
        self.is_free = threading.Event()
        self.is_free.set()
        self._stops_after: int | None = None
        self._next_status: int | None = None
        self.requests: list[tuple[dict[str, str], Any]] = []
        # What GET requests were authorized with.
        self.keys: list[str | None] = []
        stand_in = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                if self.headers["content-encoding"] == "gzip":
                    body = gzip.decompress(body)
                stand_in.requests.append(
                    ({name.lower(): value for name, value in self.headers.items()}, json.loads(body))
                )
                stand_in.count_request()
                stand_in.is_free.wait(30)
                status = stand_in.take_status()
                answer = json.dumps({"message": "as told"} if status >= 300 else {}).encode()
                self.send_response(status)
                for name, value in {**stand_in.headers, "content-length": str(len(answer))}.items():
                    self.send_header(name, value)
                try:
                    self.end_headers()
                    self.wfile.write(answer)
                except OSError:
                    # Whoever asked did not wait for it.
                    return

            def do_GET(self) -> None:
                stand_in.keys.append(self.headers["authorization"])
                self.send_error(404)

            def log_message(self, *_args: Any) -> None:
                return

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        self.is_free.set()
        self._server.shutdown()
        self._server.server_close()

    def stop_after(self, count: int) -> None:
        """Answer so many requests, and then nobody."""
        self._stops_after = count

    def then(self, status: int) -> None:
        """The status of all answers but the next one."""
        self._next_status = status

    def count_request(self) -> None:
        if self._stops_after is not None and len(self.requests) == self._stops_after + 1:
            self.is_free.clear()

    def take_status(self) -> int:
        status = self.status
        if self._next_status is not None:
            self.status, self._next_status = self._next_status, None
        return status

    def span_ids(self) -> list[str]:
        return [span["spanId"] for _, body in self.requests for span in spans_of(body)]

    def names(self) -> list[str]:
        return [span["name"] for _, body in self.requests for span in spans_of(body)]


def spans_of(body: Any) -> list[Any]:
    return [
        span
        for resource in body["resourceSpans"]
        for scope in resource["scopeSpans"]
        for span in scope["spans"]
    ]


def refused_endpoint() -> str:
    """Where nobody listens."""
    server = http.server.HTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler)
    server.server_close()
    return f"http://127.0.0.1:{server.server_port}"


class DeliveryTest(RecordingTest):
    def stand_in(self, **options: Any) -> StandIn:
        server = StandIn(**options)
        self.addCleanup(server.stop)
        return server

    def init_with_spool(self, spool: Path, endpoint: str) -> None:
        with mock.patch.dict(os.environ, {"PLAYHEAD_SPOOL": str(spool)}):
            playhead.init(endpoint=endpoint, silent=True)

    def test_steps_arrive_with_the_key_and_in_one_request(self) -> None:
        server = self.stand_in()
        playhead.init(api_key=" secret-key\n", endpoint=server.url, service_name="shop", environment="ci")
        with playhead.session("support", tags=["v1"]):
            work("a")
        self.assertTrue(playhead.flush())
        ((headers, body),) = server.requests
        self.assertEqual(headers["authorization"], "Bearer secret-key")
        resource = {one["key"]: one["value"] for one in body["resourceSpans"][0]["resource"]["attributes"]}
        self.assertEqual(resource["service.name"], {"stringValue": "shop"})
        self.assertEqual(resource["deployment.environment.name"], {"stringValue": "ci"})
        self.assertEqual(sorted(server.names()), ["support", "work"])

    def test_a_step_that_runs_is_announced_and_ends_later(self) -> None:
        server = self.stand_in()
        playhead.init(endpoint=server.url)
        playhead.start_session(tags=["long"])
        announced = wait_for(lambda: server.requests and spans_of(server.requests[0][1])[0])
        self.assertNotIn("endTimeUnixNano", announced)
        playhead.end_session("Success")
        playhead.flush()
        ended = spans_of(server.requests[-1][1])[0]
        self.assertEqual((ended["spanId"], "endTimeUnixNano" in ended), (announced["spanId"], True))

    def test_a_server_that_does_not_answer_yet_does_not_stop_the_host(self) -> None:
        server = self.stand_in()
        server.is_free.clear()
        playhead.init(endpoint=server.url)
        with playhead.session():
            for number in range(1000):
                work(str(number))
        wait_for(lambda: server.requests)
        self.assertFalse(playhead.flush(timeout_s=0.05))
        server.is_free.set()
        self.assertTrue(wait_for(lambda: playhead.flush(timeout_s=10)))
        self.assertEqual(len(set(server.span_ids())), 1001)

    def test_steps_that_are_being_encoded_are_not_delivered_yet(self) -> None:
        server, is_encoding, may_go_on = self.stand_in(), threading.Event(), threading.Event()
        self.addCleanup(may_go_on.set)

        def slow_rule(text: str, _key: str) -> str:
            if threading.current_thread().name == "playhead":
                is_encoding.set()
                may_go_on.wait(30)
            return text

        playhead.init(endpoint=server.url, redact=[slow_rule])
        work("a")
        self.assertTrue(is_encoding.wait(10))
        is_delivered = playhead.flush(timeout_s=0.05)
        queued = playhead.stats()["queued"]
        # The host goes on recording meanwhile: a step that ends does not wait for the encoding.
        recorder = threading.Thread(target=work, args=("b",), daemon=True)
        recorder.start()
        recorder.join(10)
        is_blocked = recorder.is_alive()
        may_go_on.set()
        self.assertEqual((is_delivered, queued, is_blocked), (False, 1, False))
        self.assertTrue(playhead.flush())
        self.assertEqual(server.names(), ["work", "work"])

    def test_the_rest_of_a_batch_that_was_too_large_is_not_lost(self) -> None:
        spool, server = self.folder(), self.stand_in(status=413)
        before = playhead.stats()
        self.init_with_spool(spool, server.url)
        server.is_free.clear()
        for number in range(8):
            work(str(number))
        wait_for(lambda: server.requests)
        # The first half is refused with another status, and so is all that follows.
        server.then(503)
        server.is_free.set()
        self.assertFalse(playhead.flush())
        server.then(200)
        self.assertTrue(wait_for(playhead.flush))
        now = playhead.stats()
        counts = {name: now[name] - before[name] for name in ("recorded", "delivered", "dropped")}
        self.assertEqual(counts, {"recorded": 8, "delivered": 8, "dropped": 0})

    def test_a_flush_that_is_still_sending_from_the_spool_says_so(self) -> None:
        spool, endpoint = self.folder(), refused_endpoint()
        self.init_with_spool(spool, endpoint)
        for _ in range(2):
            work("a")
            self.assertFalse(playhead.flush())
        self.assertEqual(len(list(spool.glob("*/*.json"))), 2)
        server = self.stand_in(port=int(endpoint.rsplit(":", 1)[1]))
        server.stop_after(1)
        self.assertFalse(playhead.flush(timeout_s=0.5))
        server.is_free.set()
        self.assertTrue(wait_for(lambda: playhead.flush(timeout_s=10)))
        self.assertEqual(server.names(), ["work", "work"])

    def test_what_nobody_takes_waits_on_disk_and_is_sent_by_the_next_start(self) -> None:
        spool, endpoint = self.folder(), refused_endpoint()
        environment = {"PLAYHEAD_ENDPOINT": endpoint, "PLAYHEAD_SPOOL": str(spool)}
        ended = run_program(PROGRAM + "playhead.end_session('Success')", **environment)
        self.assertEqual(ended.returncode, 0)
        self.assertIn(f"No Playhead server responds at {endpoint}", ended.stderr)
        (waiting,) = spool.glob("*/*.json")
        self.assertEqual(
            [span["name"] for span in spans_of(json.loads(waiting.read_text()))], ["work", "session"]
        )
        server = self.stand_in(port=int(endpoint.rsplit(":", 1)[1]))
        ended = run_program("import playhead; playhead.init(); print(playhead.flush())", **environment)
        self.assertEqual((ended.stdout, ended.stderr), ("True\n", ""))
        self.assertEqual(server.names(), ["work", "session"])
        self.assertEqual(list(spool.glob("*/*")), [])

    def test_a_refused_key_is_said_once_and_nothing_is_lost(self) -> None:
        spool, server = self.folder(), self.stand_in(status=401)
        environment = {"PLAYHEAD_ENDPOINT": server.url, "PLAYHEAD_SPOOL": str(spool)}
        ended = run_program(
            PROGRAM + "work('b'); playhead.flush(); work('c'); playhead.flush()", **environment
        )
        self.assertEqual(ended.stderr.count("Check the key"), 1)
        self.assertEqual(ended.returncode, 0)
        kept = [
            span["name"] for path in spool.glob("*/*.json") for span in spans_of(json.loads(path.read_text()))
        ]
        self.assertEqual(sorted(set(kept)), ["session", "work"])

    def test_a_server_that_never_answers_holds_up_the_end_for_two_seconds_at_most(self) -> None:
        spool, server = self.folder(), self.stand_in()
        server.is_free.clear()
        # It would wait half a minute.
        ended = run_program(PROGRAM, PLAYHEAD_ENDPOINT=server.url, PLAYHEAD_SPOOL=str(spool))
        self.assertEqual(ended.returncode, 0)
        self.assertFalse(server.is_free.is_set())
        self.assertEqual(len(list(spool.glob("*/*.json"))), 1)

    def test_a_busy_server_is_asked_again(self) -> None:
        server = self.stand_in(status=503, headers={"retry-after": "0"})
        playhead.init(endpoint=server.url, silent=True)
        work("a")
        wait_for(lambda: len(server.requests) >= 1)
        server.status = 200
        self.assertTrue(wait_for(lambda: len(server.requests) >= 2))

    def test_a_forked_child_delivers_its_own_steps_once(self) -> None:
        if not hasattr(os, "fork"):
            self.skipTest("there is no fork on this platform")
        server = self.stand_in()
        code = PROGRAM + (
            "import os\npid = os.fork()\nif pid == 0:\n"
            "    work('child'); playhead.end_session('Success'); playhead.flush(); os._exit(0)\n"
            "os.waitpid(pid, 0); work('parent'); playhead.end_session('Success')"
        )
        ended = run_program(code, PLAYHEAD_ENDPOINT=server.url, PLAYHEAD_SPOOL="off")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        calls = [span for _, body in server.requests for span in spans_of(body) if span["name"] == "work"]
        self.assertEqual(len({span["spanId"] for span in calls}), 3)


@unittest.skipUnless(ENDPOINT, "there is no server to record to: run scripts/test-python.mjs")
class ServerTest(RecordingTest):
    settings: ClassVar[dict[str, Any]] = {"endpoint": ENDPOINT, "api_key": "your-api-key"}

    def test_the_server_has_what_the_process_sees(self) -> None:
        with playhead.session(
            "support", tags=["a"], metadata={"plan": "pro"}, user_id="u1", thread_id="t1"
        ) as session:
            work("x")
            playhead.record(
                playhead.LLMEvent(
                    model="gpt-4o", prompt="hi", completion="ho", usage={"input": 9, "output": 3}
                )
            )
            try:
                with_error()
            except ValueError:
                pass
        self.assertTrue(playhead.flush())
        here, there = session.to_json(), fetch_session(session.id)
        facts = [
            "id",
            "name",
            "endState",
            "tags",
            "usage",
            "cost",
            "stepCount",
            "llmCallCount",
            "actionCount",
        ]
        facts += [
            "errorCount",
            "tools",
            "models",
            "agents",
            "metadata",
            "userId",
            "threadId",
            "unpricedModels",
            "url",
        ]
        self.assertEqual(
            {name: here["session"][name] for name in facts}, {name: there["session"][name] for name in facts}
        )
        parts = ["id", "parentId", "kind", "name", "status", "cost", "dialect", "startedAt"]
        for ours, theirs in zip(here["steps"], there["steps"]):
            self.assertEqual({name: ours[name] for name in parts}, {name: theirs[name] for name in parts})
            self.assertAlmostEqual(ours["durationMs"], theirs["durationMs"], delta=0.01)
            for name in ("tool", "messages", "usage", "model"):
                self.assertEqual(ours.get(name), theirs.get(name))
            self.assertEqual(
                (ours.get("error") or {}).get("message"), (theirs.get("error") or {}).get("message")
            )

    def test_a_session_is_seen_while_it_runs(self) -> None:
        session = playhead.start_session(tags=["running"])
        seen = wait_for(lambda: fetch_session(session.id)["session"])
        self.assertEqual((seen["endState"], seen["tags"]), ("running", ["running"]))
        playhead.end_session("Success")
        playhead.flush()
        self.assertEqual(fetch_session(session.id)["session"]["endState"], "success")

    def test_a_process_that_just_ends_leaves_an_indeterminate_session(self) -> None:
        session_id = run_program(PROGRAM).stdout.strip()
        session = fetch_session(session_id)["session"]
        reason = "The process ended before the session did"
        self.assertEqual((session["endState"], session["endStateReason"]), ("indeterminate", reason))

    def test_an_uncaught_exception_fails_the_session(self) -> None:
        ended = run_program(PROGRAM + "raise ValueError('boom')")
        self.assertEqual(ended.returncode, 1)
        self.assertIn("ValueError: boom", ended.stderr)
        session = fetch_session(ended.stdout.strip())["session"]
        self.assertEqual((session["endState"], session["endStateReason"]), ("fail", "ValueError: boom"))

    def test_a_signal_ends_the_process_as_it_would_have(self) -> None:
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM + "import time; time.sleep(30)"], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        session_id = process.stdout.readline().strip()
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(10), -signal.SIGTERM)
        process.stdout.close()
        session = fetch_session(session_id)["session"]
        self.assertEqual(
            (session["endState"], session["endStateReason"]),
            ("indeterminate", "The process was ended by SIGTERM"),
        )


def with_error() -> None:
    @playhead.record_action("fetch_customer_data", effect="read")
    def fetch_customer(customer_id: Any) -> None:
        raise ValueError("customer_id cannot be None")

    fetch_customer(None)


class RecordingFileTest(RecordingTest):
    def test_parts_of_a_session_that_begin_at_once_have_files_of_their_own(self) -> None:
        session_id = "0" * 32
        whole, part = SessionRecord(session_id), SessionRecord(session_id)
        part.started_ns = whole.started_ns
        whole.start(Span("agent", session_id, None, {}))
        part.start(Span("find_invoices", session_id, "1" * 16, {}, is_parent_remote=True))
        self.assertNotEqual(file_name(whole), file_name(part))

    def test_without_a_server_sessions_are_files_that_show_opens(self) -> None:
        folder = self.folder()
        playhead.init(endpoint=False, dir=str(folder))
        with playhead.session("support", tags=["v1"]) as session, self.assertRaises(ValueError):
            with_error()
        playhead.flush()
        (path,) = folder.glob("*.jsonl")
        self.assertEqual(session.url, path.resolve().as_uri())
        recording = json.loads(path.read_text())
        self.assertEqual((recording["version"], recording["session"]["endState"]), (1, "success"))
        node = os.environ.get("PLAYHEAD_TEST_NODE")
        if node is None:
            return
        shown = subprocess.run(
            [
                node,
                "--conditions=playhead-source",
                str(ROOT / "packages/playhead/src/cli/main.ts"),
                "show",
                str(path),
            ],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertIn("Action: fetch_customer_data", shown.stdout)
        self.assertIn("customer_id=null   ← PROBLEM", shown.stdout)
        self.assertIn("Error: ValueError: customer_id cannot be None", shown.stdout)
