"""Tests that use the plugin's own fixture. Run by `test_plugin.py`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import playhead


@playhead.record_action("work")
def work(key: str) -> str:
    return key


class TestShop:
    @pytest.mark.parametrize("key", ["polite", "rude"])
    def test_variants(self, playhead_session: Any, key: str) -> None:
        work(key)
        assert [event.params for event in playhead_session.action_events] == [{"key": key}]
        assert key == "polite"


def test_skips(playhead_session: Any) -> None:
    pytest.skip("not today")


def test_leaves_open(playhead_session: Any) -> None:
    playhead.start_session(tags=["left open"])
    work("x")


def test_without_the_fixture() -> None:
    work("y")
    assert playhead.get_session().tags[-1:] in (["test_without_the_fixture"], [])


@pytest.fixture
def leftovers() -> Iterator[None]:
    yield
    work("clean up")
    raise RuntimeError("could not clean up")


def test_fails_in_teardown(leftovers: None, playhead_session: Any) -> None:
    work("z")
