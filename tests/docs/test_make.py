"""Commands of the docs that are not reknit's own: make's targets, and those of a shell."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import httpx
import numpy as np
import pytest
from PIL import Image
from typer.main import get_command

from reknit.cli.app import app
from tests.docs.services import answering
from tests.docs.test_docs import PAGES, ROOT

BIN = Path(sys.executable).parent
MAKE = ["make", "--file", str(ROOT / "Makefile"), f"BIN={BIN}", "--old-file", ".venv/.ready"]
"""make with the environment of these tests, in whatever folder it is run."""

TARGET = re.compile(r"(?:^    |`)make ((?:[a-z-]+ ?)+)", re.MULTILINE)
MENTION = re.compile(r"`reknit ([^`\n]+)`")
PYTHON = re.compile(r"`python (-m )?(\S+)([^`\n]*)`")
EXTRAS = re.compile(r"reknit\[([a-z,]+)\]")


def targets() -> set[str]:
    """Every target that a page names."""
    names: set[str] = set()
    for page in PAGES:
        for match in TARGET.finditer(page.read_text(encoding="utf-8")):
            words = match.group(1).split("  ")[0].split()
            names.update(words)
    return names


def test_every_target_of_the_pages_exists() -> None:
    """Make knows each target that a page names; those that users need are among them."""
    named = targets()
    assert {"demo", "studio", "lint", "test", "docs", "results", "campaign"} <= named
    for target in sorted(named):
        words = ["make", "--dry-run", target]
        subprocess.run(words, cwd=ROOT, check=True, capture_output=True)


def test_make_demo_draws_both_planners(tmp_path: Path) -> None:
    """The README's first command, in an empty folder: pictures, a page and plans of both."""
    told = subprocess.run([*MAKE, "demo"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "ml-dagl" in told.stdout
    assert "certified" in told.stdout
    demo = tmp_path / "demo"
    assert (demo / "index.html").exists()
    pictures = list(demo.rglob("*.png"))
    assert pictures
    for picture in pictures:
        pixels = np.asarray(Image.open(picture).convert("HSV"))
        assert (pixels[..., 1] > 60).mean() > 0.002, f"{picture}: no colour in it"


def test_make_studio_serves_the_page(tmp_path: Path) -> None:
    """The README's second command: the browser's page is there."""
    with answering([*MAKE, "studio", "SERVE=--port 8397"], 8397, tmp_path):
        page = httpx.get("http://127.0.0.1:8397/", follow_redirects=True)
        assert page.status_code == 200
        assert "<script" in page.text


def test_the_service_with_a_token_of_the_docs() -> None:
    """The page's line, run by a shell: without the token nothing but its health is told."""
    text = (ROOT / "docs" / "service.md").read_text(encoding="utf-8")
    line = next(line.strip() for line in text.splitlines() if "REKNIT_TOKEN=$(" in line)
    command = f'export PATH="{BIN}:$PATH"; {line} --port 8398'
    with answering(["bash", "-c", command], 8398):
        refused = httpx.get("http://127.0.0.1:8398/v1/planners")
    assert refused.status_code == 401


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_mentioned_in_prose_exist(page: Path) -> None:
    """The words of each name a command, and its options are options of that command."""
    for match in MENTION.finditer(page.read_text(encoding="utf-8")):
        command, words = get_command(app), match.group(1).split()
        while words and hasattr(command, "commands") and words[0] in command.commands:
            command = command.commands[words.pop(0)]
        known = {option for given in command.params for option in given.opts + given.secondary_opts}
        options = {word.split("=")[0] for word in words if word.startswith("-")}
        assert options <= known | {"--help"}, f"{page.name}: {match.group()}"
        assert not hasattr(command, "commands") or options, f"{page.name}: {match.group()}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_commands_mentioned_in_prose_exist(page: Path) -> None:
    """Each is a module that runs by itself or a file, and knows the options it is shown with."""
    for module, name, rest in PYTHON.findall(page.read_text(encoding="utf-8")):
        path = ROOT / (name.replace(".", "/") if module else name)
        sources = [path, path.with_suffix(".py"), path / "__main__.py"]
        texts = [source.read_text(encoding="utf-8") for source in sources if source.is_file()]
        assert any("__name__ ==" in text for text in texts), name
        options = re.findall(r"--[a-z-]+", rest)
        if options:
            words = [sys.executable, "-m", name, "--help"]
            told = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
            assert set(options) <= set(re.findall(r"--[a-z-]+", told.stdout)), name


def test_extras_that_the_pages_name_exist() -> None:
    """`pip install 'reknit[...]'` finds each of them in pyproject.toml, and none is left out."""
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    named = {extra for names in EXTRAS.findall(text) for extra in names.split(",")}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert named == set(project["optional-dependencies"]) - {"docs", "dev"}
