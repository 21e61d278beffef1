"""What must not leave the process does not."""

from __future__ import annotations

import json
import re

import playhead

from .support import RecordingTest

SECRETS = [
    "sk-abcdefghijklmnopqrstuvwxyz",
    "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
    "AKIAIOSFODNN7EXAMPLE",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.c2lnbmF0dXJl",
    "4242 4242 4242 4242",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----",
    "postgres://user:hunter2hunter2@db/app",
]


@playhead.record_action("use")
def use(text: str, **more: object) -> object:
    return {"text": text, **more}


class RedactionTest(RecordingTest):
    def everything_recorded(self) -> str:
        session = playhead.get_session()
        assert session is not None
        return json.dumps(session.to_json())

    def test_secrets_in_texts_are_masked_wherever_they_are(self) -> None:
        with playhead.session(metadata={"note": SECRETS[0]}):
            for secret in SECRETS:
                use(f"before {secret} after")
        text = self.everything_recorded()
        for secret in [*SECRETS[:-1], "hunter2hunter2"]:
            self.assertNotIn(json.dumps(secret)[1:-1], text)
        self.assertIn("before [redacted] after", text)

    def test_secrets_are_known_by_their_names_too(self) -> None:
        with playhead.session():
            use("x", password="open sesame", api_key="abc", nested={"x-api-key": "abc", "token": None})
        (action,) = playhead.get_session().action_events
        masked = {"text": "x", "password": "[redacted]", "api_key": "[redacted]"}
        self.assertEqual(action.params, {**masked, "nested": {"x-api-key": "[redacted]", "token": None}})

    def test_errors_are_masked(self) -> None:
        @playhead.record_action("fail")
        def fail() -> None:
            raise ValueError(f"bad key {SECRETS[0]}")

        with self.assertRaises(ValueError):
            fail()
        with playhead.session(), self.assertRaises(ValueError):
            fail()
        self.assertNotIn(SECRETS[0], self.everything_recorded())

    def test_rules_of_the_user_are_followed(self) -> None:
        playhead.init(
            endpoint=False,
            redact=["customer", re.compile(r"C-\d+"), lambda text, _key: text.replace("Ada", "A.")],
        )
        with playhead.session():
            use("Ada has C-1234", customer="c_42")
        (action,) = playhead.get_session().action_events
        self.assertEqual(action.params, {"text": "A. has [redacted]", "customer": "[redacted]"})

    def test_a_rule_that_fails_keeps_nothing(self) -> None:
        playhead.init(endpoint=False, redact=[lambda _text, _key: 1 / 0])
        with playhead.session():
            use("something")
        self.assertNotIn("something", self.everything_recorded())

    def test_without_content_the_structure_is_kept(self) -> None:
        playhead.init(endpoint=False, capture_content=False)
        with playhead.session():
            use("a private matter", count=3, flag=True)
        (action,) = playhead.get_session().action_events
        self.assertEqual(action.params, {"text": "[16 characters]", "count": 3, "flag": True})
        self.assertNotIn("private", self.everything_recorded())
