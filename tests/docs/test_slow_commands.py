"""Commands of the docs that take minutes or never end: each begins, works, and can be stopped."""

from __future__ import annotations

import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import reknit
from reknit.study.library.instances import instance
from tests.docs.services import answering
from tests.docs.test_docs import PAGES, SLOW, commands, workshop

__all__ = ["workshop"]

pytestmark = pytest.mark.long

INTERRUPTED = 130
SLOW_COMMANDS = [
    (page, command)
    for page, command in commands()
    if command.removeprefix("reknit ").startswith(SLOW) and "--engine ray" not in command
]
"""All but those that want a cluster, which tests/study/run runs."""


@pytest.fixture
def folder(workshop: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The pages' files, the study of their own that they describe, and a library of one's own."""
    studies = next(page for page in PAGES if page.name == "studies.md").read_text(encoding="utf-8")
    text = re.findall(r"^```toml\n(.*?)^```", studies, re.MULTILINE | re.DOTALL)[0]
    (workshop / "mine.toml").write_text(text, encoding="utf-8")
    monkeypatch.setenv("REKNIT_LIBRARY", str(workshop / "library"))
    return workshop


@pytest.mark.parametrize(("page", "command"), SLOW_COMMANDS, ids=lambda value: str(value)[:60])
def test_slow_commands_begin(page: str, command: str, folder: Path) -> None:
    """What ends, ends well; a study or training goes on until it is interrupted, then says so;
    a report is made of what a study had by then; the service answers.
    """
    words = shlex.split(command.replace("your-planner", "certified"))[1:]
    kind = " ".join(words[:2]) if words[0] == "study" else words[0]
    if kind in ("study run", "pretrain"):
        assert begun(words, folder) in (0, INTERRUPTED), f"{page}: {command}"
    elif kind == "study report":
        begun(["study", "run", *[word for word in words[2:] if word != "--export"]], folder)
        # Of all studies only the first has begun: the others are named, with exit code 2.
        assert ended(words, folder) == (2 if words[2] == "all" else 0), f"{page}: {command}"
        assert list((folder / "results").rglob("*.html"))
    elif kind == "study submit":
        reknit.plan(instance(words[2]).scenario(), "certified").save(folder / words[3])
        assert ended(words, folder) == 0, f"{page}: {command}"
    elif kind == "serve":
        answers(words, folder)
    else:
        assert ended(words, folder) == 0, f"{page}: {command}"


def ended(words: list[str], folder: Path) -> int:
    """The exit code of a command that ends by itself."""
    return subprocess.run([sys.executable, "-m", "reknit", *words], cwd=folder).returncode


def begun(words: list[str], folder: Path) -> int:
    """The exit code of a command that is interrupted once it has told of progress, if it has not
    ended by then.
    """
    log = folder / "progress.txt"
    with log.open("w") as told:
        process = subprocess.Popen(
            [sys.executable, "-m", "reknit", *words], cwd=folder, stdout=told, stderr=told
        )
    until = time.monotonic() + 300.0
    while process.poll() is None and "%" not in log.read_text() and time.monotonic() < until:
        time.sleep(0.2)
    if process.poll() is None:
        assert "%" in log.read_text(), log.read_text()
        process.send_signal(signal.SIGINT)
    code = process.wait(timeout=120)
    assert "Traceback" not in log.read_text(), log.read_text()
    return code


def answers(words: list[str], folder: Path) -> None:
    """Start the service without a browser, and ask for its health."""
    with answering([sys.executable, "-m", "reknit", *words, "--port", "8399"], 8399, folder):
        pass
