"""What the studio's tests share: a swarm, the ways of a user, and a look at the pixels."""

from __future__ import annotations

import io
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from playwright.sync_api import Page

import reknit
from reknit.swarm.files import scenario_file
from tests.serve.running import Running, until

CHROMIUM = shutil.which("chromium")
AXE = Path(__file__).parents[3] / ".node" / "node_modules" / "axe-core" / "axe.min.js"
BLUE, ORANGE = (0x5A, 0xA9, 0xFF), (0xE6, 0x9F, 0x00)
IS_CI = bool(os.environ.get("CI"))
"""There the browser must be installed: its tests fail instead of being skipped."""


def two_groups() -> reknit.Scenario:
    """Two groups in a row, 200 m apart: anybody can tell where everything must be drawn."""
    left = [[0.0, 0.0], [100.0, 0.0], [100.0, 100.0]]
    right = [[300.0, 0.0], [400.0, 0.0]]
    return reknit.Scenario([*left, [200.0, 0.0], *right], [3], radio_range_m=120.0)


def open_studio(page: Page, service: Running) -> None:
    """Go to the studio and wait for its first swarm."""
    page.goto(service.url)
    until(lambda: bool(page.evaluate("Boolean(window.reknit?.scenario)")))


def choose_file(page: Page, name: str, text: str) -> None:
    """Choose a file, as the button does."""
    page.set_input_files(
        "#file", {"name": name, "mimeType": "application/json", "buffer": text.encode()}
    )


def load(page: Page, scenario: reknit.Scenario) -> None:
    """Open a scenario as a file."""
    choose_file(page, "case.json", scenario_file(scenario).model_dump_json())
    until(lambda: "Opened" in page.inner_text("#status"))


def mended(page: Page, count: int) -> None:
    """Wait until every planner has ended."""
    runs = f"reknit.runs.length === {count} && reknit.runs.every((r) => r.recovery || r.problem)"
    state = "reknit.runs.map((r) => [r.planner, r.message])"
    until(
        lambda: bool(page.evaluate(runs)),
        120.0,
        lambda: (page.inner_text("#status"), page.evaluate(state)),
    )


def choose(page: Page, *names: str) -> None:
    script = """(names) => document.querySelectorAll('#planners input').forEach(
        (box) => { box.checked = names.includes(box.value); })"""
    page.evaluate(script, list(names))


def settle(page: Page) -> None:
    """Wait until what was asked for is painted."""
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def pixels_of(page: Page, panel: int = 0) -> Any:
    """(height, width, 3) what a panel shows."""
    settle(page)
    shot = page.locator(".panel canvas").nth(panel).screenshot()
    return np.asarray(Image.open(io.BytesIO(shot)).convert("RGB")).astype(int)


def place_of(page: Page, point: Sequence[float]) -> list[float]:
    """Where a point in metres is on the map."""
    place: list[float] = page.evaluate(
        "([x, y]) => reknit.stage.camera.project(x, y, 0)", list(point)
    )
    return place


def colour_at(pixels: Any, place: list[float]) -> tuple[int, ...]:
    """The colour of a pixel."""
    return tuple(pixels[round(place[1]), round(place[0])])


def is_near(colour: tuple[int, ...], wanted: tuple[int, int, int]) -> bool:
    """Whether two colours are the same but for smooth edges."""
    return max(abs(a - b) for a, b in zip(colour, wanted, strict=True)) <= 24


def open_all(page: Page) -> None:
    """Unfold every part of the side bar."""
    page.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true; })")


def saved(page: Page, button: str, folder: Path) -> Path:
    """Press a button that saves a file, and where it is."""
    with page.expect_download() as waiting:
        page.click(button)
    path = folder / waiting.value.suggested_filename
    waiting.value.save_as(path)
    return path
