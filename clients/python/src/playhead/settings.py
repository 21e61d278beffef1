"""Parses and validates `init`'s options and the environment."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any, Callable, Optional, Union
from urllib.parse import urlsplit

from .host_value import is_a, items_of, to_fields, to_name, to_names, to_text

DEFAULT_ENDPOINT = "http://localhost:4318"
DEFAULT_MAX_VALUE_BYTES = 1024 * 1024
DEFAULT_KEPT_SESSIONS = 20

RedactRule = Union[str, "re.Pattern[str]", Callable[[str, str], str]]


@dataclass(frozen=True)
class Settings:
    api_key: Optional[str] = None
    """None disables sending."""
    endpoint: Optional[str] = None
    """The directory for session files; None writes no files."""
    directory: Optional[Path] = None
    """The spool directory for undelivered batches; None disables it."""
    spool: Optional[Path] = None
    service_name: Optional[str] = None
    environment: Optional[str] = None
    tags: tuple[str, ...] = ()
    resource: Mapping[str, Any] = field(default_factory=dict)
    is_llm_captured: bool = True
    is_content_kept: bool = True
    redact: tuple[RedactRule, ...] = ()
    max_value_bytes: int = DEFAULT_MAX_VALUE_BYTES
    kept_sessions: int = DEFAULT_KEPT_SESSIONS
    is_silent: bool = False
    problems: tuple[str, ...] = ()


def read_settings(options: Mapping[str, Any], environment: Mapping[str, str]) -> Settings:
    """Options take precedence over the environment."""
    problems: list[str] = []
    directory = _read_folder(options.get("dir"), problems) or _non_empty(environment.get("PLAYHEAD_DIR"))
    given_key = options.get("api_key")
    if given_key is None:
        given_key = environment.get("PLAYHEAD_API_KEY") or environment.get("AGENTOPS_API_KEY")
    given_endpoint = options.get("endpoint")
    if given_endpoint is None:
        given_endpoint = _non_empty(environment.get("PLAYHEAD_ENDPOINT"))
    return Settings(
        api_key=_read_key(given_key, problems),
        endpoint=_read_endpoint(given_endpoint, directory is not None, problems),
        directory=None if directory is None else Path(directory).resolve(),
        spool=_read_spool(environment.get("PLAYHEAD_SPOOL")),
        service_name=to_name(options.get("service_name")) or _non_empty(environment.get("OTEL_SERVICE_NAME")),
        environment=to_name(options.get("environment")),
        tags=to_tags(options.get("tags")),
        resource=_read_resource(options.get("resource"), environment.get("OTEL_RESOURCE_ATTRIBUTES")),
        is_llm_captured=options.get("capture_llm", True) is not False,
        is_content_kept=options.get("capture_content", True) is not False,
        redact=_read_rules(options.get("redact"), problems),
        max_value_bytes=_at_least(1000, options.get("max_value_bytes"), DEFAULT_MAX_VALUE_BYTES),
        kept_sessions=_at_least(0, options.get("keep_sessions"), DEFAULT_KEPT_SESSIONS),
        is_silent=options.get("silent") is True,
        problems=tuple(problems),
    )


def to_tags(given: Union[str, Sequence[str], None]) -> tuple[str, ...]:
    """Accepts a single tag as a string; removes duplicates and keeps the order."""
    return tuple(to_names(given))


def _read_folder(given: Any, problems: list[str]) -> Optional[str]:
    if given is None or given is False:
        return None
    if is_a(given, (str, PurePath)):
        return str(given) or None
    problems.append("init(dir=…) must be a path, so it is ignored.")
    return None


def _is_rule(rule: Any) -> bool:
    return is_a(rule, (str, re.Pattern)) or callable(rule)


def _read_rules(given: Any, problems: list[str]) -> tuple[RedactRule, ...]:
    """A rule that can't be applied is reported: what it should hide would be sent."""
    if given is None:
        return ()
    listed = items_of(given) if is_a(given, (list, tuple, set, frozenset)) else [given]
    rules = [str.__str__(rule) if is_a(rule, str) else rule for rule in listed if _is_rule(rule)]
    if len(rules) < len(listed):
        problems.append(
            "init(redact=…) takes a list of key names, patterns and functions; anything else is ignored."
        )
    return tuple(rules)


def _read_endpoint(given: Any, has_folder: bool, problems: list[str]) -> Optional[str]:
    if given is False or (is_a(given, str) and given.strip().lower() == "off"):
        return None
    if given is None:
        return None if has_folder else DEFAULT_ENDPOINT
    text = (to_text(given) or "").strip()
    try:
        url = urlsplit(text if "://" in text else f"http://{text}")
        is_address = url.scheme in ("http", "https") and bool(url.hostname) and url.port != 0
    except ValueError:
        is_address = False
    if not is_address:
        problems.append(
            f'"{text}" is not the address of a server: nothing is sent. It looks like {DEFAULT_ENDPOINT} '
            "(init(endpoint=…) or PLAYHEAD_ENDPOINT)."
        )
        return None
    path = re.sub(r"/v1/traces$", "", url.path.rstrip("/"))
    return f"{url.scheme}://{url.netloc}{path}"


def _read_key(given: Any, problems: list[str]) -> Optional[str]:
    """Copied keys can end in a line break, which is not part of the key."""
    key = (to_text(given) or "").strip()
    if key == "":
        return None
    if re.fullmatch(r"[\x21-\x7E]+", key):
        return key
    problems.append(
        "The key contains invalid characters, so it is ignored. Copy it again "
        "(init(api_key=…) or PLAYHEAD_API_KEY)."
    )
    return None


def _read_spool(given: Optional[str]) -> Optional[Path]:
    if given is not None and given.lower() == "off":
        return None
    if given:
        return Path(given).resolve()
    try:
        return Path.home() / ".playhead" / "spool"
    except RuntimeError:
        return None


def _read_resource(given: Optional[Mapping[str, Any]], listed: Optional[str]) -> dict[str, Any]:
    resource: dict[str, Any] = {}
    for entry in (listed or "").split(","):
        name, separator, value = entry.partition("=")
        if separator and name.strip():
            resource[name.strip()] = value.strip()
    kept = (str, int, float, bool)
    return {**resource, **{key: value for key, value in to_fields(given).items() if type(value) in kept}}


def _non_empty(text: Optional[str]) -> Optional[str]:
    return None if text is None or text.strip() == "" else text


def _at_least(smallest: int, given: Any, otherwise: int) -> int:
    if given is None:
        return otherwise
    is_number = type(given) is int or (type(given) is float and math.isfinite(given))
    return int(given) if is_number and given >= smallest else smallest


def read_environment() -> Mapping[str, str]:
    return os.environ
