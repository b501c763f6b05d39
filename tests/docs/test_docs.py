"""README and docs: every Python block and every command of theirs runs."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tomllib
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

import reknit
from reknit.algorithms.registry import BUILT_IN, ENTRY_POINT_GROUP
from reknit.study.spec.study import built_in_studies
from reknit.study.spec.views import ViewSpec
from reknit.swarm.demands import demand_fields
from tests.docs.services import answering
from tests.test_public_api import PUBLIC_MODULES

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^(?:    |\$ )?(reknit [^`]*?)(?:\s{2,}#.*| # .*)?$", re.MULTILINE)
SLOW = ("study run", "study report", "study submit", "pretrain", "serve", "bench")
"""Commands that take minutes, wait for ever or want the results of another: here it is checked
that they and their options exist; tests of their own run them."""


def commands() -> list[tuple[str, str]]:
    """(page, command) of every command in an indented or fenced block, each once."""
    found: dict[str, str] = {}
    for page in PAGES:
        text = re.sub(r"\\\n\s*", "", page.read_text(encoding="utf-8"))
        for match in COMMAND.finditer(text):
            for part in match.group(1).split("&&"):
                command = part.split("|")[0].strip()
                if command.startswith("reknit "):
                    found.setdefault(command, page.name)
    return [(page, command) for command, page in found.items()]


@pytest.fixture
def workshop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder with the files that the pages speak of."""
    scenario = reknit.generate(30, 15, seed=1, split=True)
    reknit.save_scenario(scenario, tmp_path / "swarm.csv")
    reknit.save_scenario(scenario, tmp_path / "swarm.json")
    reknit.save_scenario(scenario, tmp_path / "scenario.json")
    reknit.plan(scenario, "certified").save(tmp_path / "plan.json")
    (tmp_path / "examples").mkdir()
    (tmp_path / "examples/swarm.csv").write_bytes((ROOT / "examples/swarm.csv").read_bytes())
    (tmp_path / "result").mkdir()
    for name in ("scenario.json", "plan.json"):
        (tmp_path / "result" / name).write_bytes((tmp_path / name).read_bytes())
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "page", [page for page in PAGES if BLOCK.search(page.read_text())], ids=lambda page: page.name
)
def test_python_blocks_run(page: Path, workshop: Path) -> None:
    """The blocks of a page run one after the other in an empty folder; those that speak to a
    service have one.
    """
    words = [sys.executable, "-m", "reknit", "serve", "--workers", "1"]
    with answering(words, 8321) if page.name == "service.md" else nullcontext():
        run_blocks(page)


def run_blocks(page: Path) -> None:
    """Run the Python blocks of a page in one namespace."""
    rng = np.random.default_rng(0)
    names = {"reknit": reknit, "positions": rng.random((40, 2)) * 400.0, "destroyed": [3, 8, 21]}
    names["scenario"] = reknit.generate(40, 20, seed=1, split=True)
    text = page.read_text(encoding="utf-8")
    for match in BLOCK.finditer(text):
        line = text[: match.start()].count("\n") + 1
        code = compile("\n" * line + match.group(1), str(page), "exec")
        exec(code, names)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_toml_blocks_are_what_the_pages_say(page: Path, tmp_path: Path) -> None:
    """A study that can be run, or a planner of another package under the group that is asked."""
    for block in re.findall(r"^```toml\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL):
        if "project" in (given := tomllib.loads(block)):
            assert set(given["project"]["entry-points"]) == {ENTRY_POINT_GROUP}
        else:
            (tmp_path / "study.toml").write_text(block, encoding="utf-8")
            study = reknit.load_study(tmp_path / "study.toml")
            assert study.fault() is None
            assert len(study.tasks("quick")) > 0


@pytest.mark.parametrize(("page", "command"), commands(), ids=lambda value: str(value)[:60])
def test_commands_run(page: str, command: str, workshop: Path) -> None:
    """A command of a page ends well; of a slow one the words and options exist."""
    words = shlex.split(command)[1:]
    is_slow = " ".join(words).startswith(SLOW)
    words += ["--help"] if is_slow else []
    environment = {**os.environ, "COLUMNS": "120"}
    result = subprocess.run(
        [sys.executable, "-m", "reknit", *words],
        cwd=workshop,
        env=environment,
        capture_output=True,
        text=True,
        timeout=250,
    )
    assert result.returncode == 0, f"{page}: {command}\n{result.stdout}{result.stderr}"


def test_the_reference_has_every_public_name() -> None:
    """Each name of `reknit` and of its other public modules is on a page of the reference, those
    that both have once.
    """
    text = "".join(page.read_text() for page in (ROOT / "docs" / "reference").glob("*.md"))
    shown = [import_path(name) for name in re.findall(r"^::: (\S+)", text, re.MULTILINE)]
    wanted = [import_path(f"reknit.{name}") for name in reknit.__all__]
    for module in PUBLIC_MODULES:
        wanted += [import_path(f"{module}.{name}") for name in import_module(module).__all__]
    assert len(shown) == len({id(item) for item in shown})
    assert {id(item) for item in shown} == {id(item) for item in wanted}


def import_path(path: str) -> Any:
    """What a dotted name stands for."""
    module, _, name = path.rpartition(".")
    return getattr(import_module(module), name)


def test_pages_name_all_that_there_is() -> None:
    """Every planner, demand, built-in study and kind of figure stands on the page about them."""
    docs = ROOT / "docs"
    planners = set(re.findall(r"\*\*([a-z-]+)\*\*", (docs / "algorithms.md").read_text()))
    assert {entry.name for entry in BUILT_IN} <= planners
    demands = set(re.findall(r"^\| `(\w+)", (docs / "how-to.md").read_text(), re.MULTILINE))
    assert set(demand_fields()) <= demands
    built_in = (docs / "studies.md").read_text().split("## Built in")[1].split("## Your own")[0]
    assert set(re.findall(r"^\| `([a-z-]+)`", built_in, re.MULTILINE)) == set(built_in_studies())
    kinds = re.search(r"^kind = .*# (.*)$", (docs / "studies.md").read_text(), re.MULTILINE)
    assert kinds is not None
    assert set(kinds[1].split(", ")) == set(get_args(ViewSpec.model_fields["kind"].annotation))


def test_the_service_page_shows_the_error_of_today() -> None:
    """The text of the error on the page is what such a scenario is really answered."""
    with pytest.raises(reknit.errors.InvalidScenario) as refused:
        reknit.Scenario([[0, 0], [200, 0]], radio_range_m=-1.0)
    assert f'"detail": "{refused.value}"' in (ROOT / "docs" / "service.md").read_text()
