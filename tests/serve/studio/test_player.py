"""The page that a run folder carries."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
from playwright.sync_api import Page

import reknit
from reknit.serve.studio import write_operation_player, write_player
from reknit.swarm.files import scenario_file
from tests.serve.running import until
from tests.serve.studio.browser import (
    BLUE,
    ORANGE,
    pixels_of,
    two_groups,
)


def test_a_run_folder_plays_without_a_service(page: Page, tmp_path: Path) -> None:
    """The page of a run draws the swarm from its own data and asks nobody."""
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    path = write_player(reknit.recover(two_groups(), "certified"), tmp_path)
    page.goto(path.as_uri())
    until(lambda: page.locator(".panel").count() == 1)
    page.focus("#time")

    def is_at_the_beginning() -> bool:
        # The flight plays when the page opens; once it has ended, the beginning stays.
        page.keyboard.press("Home")
        return page.inner_text(".clock") == "0.00 s"

    until(is_at_the_beginning)
    colours = pixels_of(page).reshape(-1, 3)
    for wanted in (BLUE, ORANGE):
        assert (np.abs(colours - np.asarray(wanted)).max(axis=1) < 24).sum() > 40
    assert asked == [path.as_uri()]


def test_a_comparison_plays_side_by_side(page: Page, tmp_path: Path) -> None:
    """`reknit compare --out` writes one page with all planners, at most six shown at once."""
    names = ["certified", "contraction", "hero", "sidr", "center-fly", "mdsg-apf", "descent"]
    scenario = tmp_path / "scenario.json"
    scenario.write_text(scenario_file(two_groups()).model_dump_json())
    command = [sys.executable, "-m", "reknit", "compare", str(scenario), "--out", "out"]
    subprocess.run([*command, "--planners", ",".join(names)], cwd=tmp_path, check=False)
    page.goto((tmp_path / "out" / "index.html").as_uri())
    until(lambda: page.locator(".panel").count() == 6)
    assert page.locator("#runs button").all_inner_texts() == names
    page.get_by_role("button", name="descent").click()
    until(lambda: "descent" in page.inner_text("#grid"))
    assert page.locator(".panel").count() == 6
    page.get_by_role("button", name="hero").click()
    until(lambda: page.locator(".panel").count() == 5)


def test_beliefs_are_told(page: Page, tmp_path: Path) -> None:
    """In the page of an operation the pointer tells what the observer believes of a UAV."""
    scenario = reknit.generate(30, 12, seed=7, split=True)
    operation = reknit.operate(scenario, "hedge", seed=1)
    page.goto(write_operation_player(operation, tmp_path).as_uri())
    until(lambda: page.locator(".panel").count() == 1)
    shown = json.loads(page.locator("#run").text_content() or "")["recoveries"][0]
    belief, seen = shown["belief"], operation.observation
    assert belief["observer"] == seen.uav
    assert belief["status"][-1] == "".join(str(value) for value in seen.status[-1])
    assert (
        shown["flight"]["positions_m"][-1] == operation.positions[-1][scenario.survivors].tolist()
    )
    page.focus("#time")
    page.keyboard.press("End")
    box = page.locator(".panel canvas").bounding_box()
    assert box is not None

    # At the end everybody is in one network, and blue.
    places = np.argwhere(np.abs(pixels_of(page) - np.asarray(BLUE)).max(axis=2) < 6)
    told = set()
    for y, x in places[:: max(1, len(places) // 60)].tolist():
        page.mouse.move(box["x"] + x, box["y"] + y)
        if page.locator("#tip").is_visible():
            told.add(page.inner_text("#tip").splitlines()[-1])
    assert any(line.startswith(f"UAV {seen.uav} believes: ") for line in told)
