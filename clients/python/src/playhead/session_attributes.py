"""The attributes of a session's root step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .host_value import to_fields, to_name, to_names
from .serialize import SerializeOptions, serialize_value

NAME_KEYS = {"name": "playhead.session.name", "user_id": "user.id", "thread_id": "session.id"}
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
    for field, key in NAME_KEYS.items():
        name = to_name(described.get(field))
        if name is not None:
            attributes[key] = name
    every_tag = to_names([*tags, *to_names(described.get("tags"))])
    if every_tag:
        attributes["playhead.session.tags"] = every_tag
    if described.get("metadata") is not None:
        metadata = to_fields(described["metadata"])
        attributes["playhead.session.metadata"] = serialize_value(metadata, options).text
    if described.get("input") is not None:
        attributes["playhead.session.input"] = serialize_value(described["input"], options).text
    attributes.update(described.get("attributes") or {})
    for field, value in to_fields(described.get("test")).items():
        if value is not None and field in TEST_KEYS:
            attributes[TEST_KEYS[field]] = value if type(value) is int else to_name(value) or ""
    return attributes
