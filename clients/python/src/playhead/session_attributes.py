"""The attributes of a session's root step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .serialize import SerializeOptions, serialize_value
from .settings import to_tags

TEST_KEYS = {
    "file": "playhead.test.file",
    "suite": "playhead.test.suite",
    "name": "playhead.test.name",
    "attempt": "playhead.test.attempt",
    "variant": "playhead.test.variant",
    "run_id": "playhead.test.run_id",
}


def session_attributes(
    described: Mapping[str, Any], tags: Sequence[str], options: SerializeOptions
) -> dict[str, Any]:
    attributes: dict[str, Any] = {"playhead.step.kind": "workflow"}
    if described.get("name") is not None:
        attributes["playhead.session.name"] = str(described["name"])
    every_tag = to_tags([*tags, *to_tags(described.get("tags"))])
    if every_tag:
        attributes["playhead.session.tags"] = list(every_tag)
    if described.get("metadata") is not None:
        attributes["playhead.session.metadata"] = serialize_value(dict(described["metadata"]), options).text
    if described.get("user_id") is not None:
        attributes["user.id"] = str(described["user_id"])
    if described.get("thread_id") is not None:
        attributes["session.id"] = str(described["thread_id"])
    attributes.update(described.get("attributes") or {})
    for field, value in (described.get("test") or {}).items():
        if value is not None and field in TEST_KEYS:
            attributes[TEST_KEYS[field]] = value
    return attributes
