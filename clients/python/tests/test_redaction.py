"""What must not leave the process does not."""

from __future__ import annotations

import json
import os
import re

import playhead
from playhead.redaction.redact import Redactor
from playhead.redaction.secret_patterns import mask_secrets
from playhead.serialize import write_json

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

# Texts as they stand in recordings, and what is left of them.
MASKED = [
    (r'{"a":"b\nghp_0123456789abcdefghij"}', r'{"a":"b\n[redacted]"}'),
    (r'"gr\u00fcsk-Ab12Cd34Ef56Gh78"', r'"gr\u00fc[redacted]"'),
    (r'"b\n4111 1111 1111 1111."', r'"b\n[redacted]."'),
    (r'"A=1\nDB_PASSWORD=hunter2\nB=1"', r'"A=1\nDB_PASSWORD=[redacted]\nB=1"'),
    ("gsk_" + "aB3" * 17, "[redacted]"),
    ("eyJhbGciOiJkaXIifQ..abcdefghijkl.abcdefghijkl.abcdefghijklmnop", "[redacted]"),
    ("-----BEGIN PGP PRIVATE KEY BLOCK-----\nMI\n-----END PGP PRIVATE KEY BLOCK-----", "[redacted]"),
    ("BEARER abcdefghijklmnop1234", "BEARER [redacted]"),
    ("mysql://ada:p@ss@db/app", "mysql://ada:[redacted]@db/app"),
    ("4111 1111 1111 1111 12/27 123", "[redacted] 12/27 123"),
    ("order 42 5555555555554444", "order 42 [redacted]"),
    ("4111\u00a01111\u00a01111\u00a01111", "[redacted]"),
    ("3782 822463 10005", "[redacted]"),
    ('{"card":4111111111111111}', '{"card":"[redacted]"}'),
    ("API_KEY=\"a b\" SECRET='c d'", "API_KEY=\"[redacted]\" SECRET='[redacted]'"),
    ("aws_secret_access_key = wJal1/K7+x", "aws_secret_access_key = [redacted]"),
    ("db:\n  password: hunter2\n  port: 1", "db:\n  password: [redacted]\n  port: 1"),
    ("{ apiKey: 'abc', n: 1 }", "{ apiKey: '[redacted]', n: 1 }"),
    ("{'password': 'abc', 'n': 1}", "{'password': '[redacted]', 'n': 1}"),
    ("connect(api_key=abc, n=1)", "connect(api_key=[redacted], n=1)"),
    ('{"token":"abc","pwd":"d"}', '{"token":"[redacted]","pwd":"[redacted]"}'),
    ('{"cvv":123,"n":1}', '{"cvv":"[redacted]","n":1}'),
    ('{"set-cookie":["a=b","c=d"]}', '{"set-cookie":["[redacted]","[redacted]"]}'),
    ('["cookie","a=b"]', '["cookie","[redacted]"]'),
    ('{"password":"abc', '{"password":"[redacted]'),
    (r"{\"password\":\"a\\\"b\",\"n\":1}", r"{\"password\":\"[redacted]\",\"n\":1}"),
]
INNOCENT = [
    "sk-learn, sk-fading-circle-wrapper",
    "trace 4f4111111111111111ab, 0.4111111111111111, 4111111111111111.5",
    "the secret of good coffee: fresh beans",
    "const apiKey = process.env.OPENAI_API_KEY_2, password = readPassword(1)",
    "if (password === undefined || apiKey == key2) return",
    '{"password":{"type":"string","description":"at least 8"},"token":null,"secret":true}',
    '{"prompt_tokens":12,"completion_tokens":3,"total_tokens":15,"max_tokens":100}',
    '{"required":["authorization","body"]}',
]
HOSTILE_LENGTH = 500_000 if os.environ.get("PLAYHEAD_LONG") else 100_000
# Each took minutes when its cost grew with the square of its length.
HOSTILE = [
    *("eyJ-", "eyJaaaaaaaa.", "\\", "sk-", "xai-", "4 ", "4111 1111 1111 1112 ", "Bearer ", "://a:", ":="),
    *('-----BEGIN PRIVATE KEY-----"', "password:", "password = ", '"password":"', r"\"password\":\""),
    *('"password":["a",', '"token":\'"', '"cvv":1,', r"password:\'", '"cookie","a",'),
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

    def test_secrets_are_found_in_texts_that_are_escaped_and_nothing_else_is(self) -> None:
        for text, expected in MASKED:
            self.assertEqual(mask_secrets(text), expected)
        for text in INNOCENT:
            self.assertEqual(mask_secrets(text), text)

    def test_a_text_that_means_to_keep_it_busy_does_not(self) -> None:
        redactor = Redactor(["ssn", re.compile(r"C-\d+")])
        for part in HOSTILE:
            self.assertTrue(redactor.text(part * (HOSTILE_LENGTH // len(part)) + "key=", "text"))

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

    def test_names_of_the_user_are_found_in_json(self) -> None:
        redactor = Redactor(["ssn", "customer_name", "größe"])
        for text, expected in [
            ('It said {"ssn":"1 2","n":1}', 'It said {"ssn":"[redacted]","n":1}'),
            (r"{\"customerName\":\"Ada\"}", r"{\"customerName\":\"[redacted]\"}"),
            ("{'GRÖßE': '1,80'}", "{'GRÖßE': '[redacted]'}"),
        ]:
            self.assertEqual(redactor.text(text, "text"), expected)

    def test_a_pattern_of_the_user_sees_the_texts_of_json_as_they_are(self) -> None:
        def written(first: str, second: str) -> str:
            return write_json({"a": f"one\n{first}", "b": write_json({"c": f"\t{second}"}), "n": 1.5})

        redactor = Redactor([re.compile(r"\bINV-\d+\b")])
        self.assertEqual(
            redactor.text(written("INV-1", "INV-2"), "text"), written("[redacted]", "[redacted]")
        )
        too_large = '{"a":"\\nINV-1","n":' + "9" * 5000 + "}"
        self.assertEqual(redactor.text(too_large, "text"), '{"a":"\\n[redacted]","n":null}')
        for text in (r'{"a":"\nINV-1","n":NaN}', "[" * 100_000 + "\\"):
            self.assertEqual(redactor.text(text, "text"), text)

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
