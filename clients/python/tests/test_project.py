"""What `[tool.playhead]` of a pyproject.toml says, and what is said when it is wrong."""

from __future__ import annotations

import os
import sys
import unittest
from pathlib import Path
from typing import Any

from playhead.project import ProjectError, find_project, load_agent
from playhead.testing import run_agent

from .support import RecordingTest

AGENT = """
import asyncio

def run(text, locale="en"):
    return f"{locale} {text}"

def take(given):
    return given

async def later(text):
    await asyncio.sleep(0)
    return text
"""


@unittest.skipIf(sys.version_info < (3, 11), "needs a TOML parser")
class ProjectTest(RecordingTest):
    def project(self, settings: str) -> Path:
        folder = self.folder().resolve()
        (folder / "pyproject.toml").write_text(settings)
        name = f"agent_{id(folder)}"
        (folder / f"{name}.py").write_text(AGENT)
        (folder / "pyproject.toml").write_text(settings.replace("AGENT", name))
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        inner = folder / "tests/inner"
        inner.mkdir(parents=True)
        os.chdir(inner)
        return folder

    def test_the_nearest_file_with_settings_counts(self) -> None:
        folder = self.project('[tool.playhead]\ncassettes = "tapes"\nallow_spawn = ["git"]\n')
        (folder / "tests/pyproject.toml").write_text("[tool.other]\n")
        self.assertEqual(find_project(Path.cwd()), (folder, {}, folder / "tapes", ("git",)))
        self.assertEqual(find_project(Path("/")), (None, {}, None, ()))

    def test_an_agent_is_started_with_its_input(self) -> None:
        self.project(
            '[tool.playhead.agents]\nsupport = "AGENT:run"\nother = "AGENT:take"\nlater = "AGENT:later"\n'
        )
        cases: list[tuple[str, Any, Any]] = [
            ("support", {"text": "Hi"}, "en Hi"),
            ("support", {"text": "Hi", "locale": "de"}, "de Hi"),
            ("support", "Hi", "en Hi"),
            ("other", {"text": "Hi"}, {"text": "Hi"}),
            ("other", {"given": 1}, 1),
            ("later", {"text": "Hi"}, "Hi"),
        ]
        for name, given, expected in cases:
            with self.subTest(name=name, given=given):
                self.assertEqual(run_agent(name, given), expected)

    def test_what_is_missing_is_said_with_the_lines_to_write(self) -> None:
        folder = self.project('[tool.playhead.agents]\nother = "AGENT:gone"\nthird = "app.none:run"\n')
        file = folder / "pyproject.toml"
        for name, sentence in [
            (
                "support",
                f'{file} has no agent "support" (it has: other, third). Say which function starts it, with '
                'its module:\n\n[tool.playhead.agents]\nsupport = "app.agent:run"\n',
            ),
            ("other", 'has no function "gone". It looks like "app.agent:run".'),
            ("third", f'The agent "third" is "app.none:run", but there is no module app below {folder}.'),
        ]:
            with self.subTest(name), self.assertRaises(ProjectError) as raised:
                load_agent(find_project(Path.cwd()), name)
            self.assertIn(sentence, str(raised.exception))
        file.write_text("[tool.playhead")
        with self.assertRaisesRegex(ProjectError, "is not TOML"):
            find_project(Path.cwd())
