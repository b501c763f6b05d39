"""Strikes that come while the swarm flies."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Page

import reknit
from tests.serve.running import Running, until
from tests.serve.studio.browser import (
    choose,
    load,
    mended,
    open_all,
    open_studio,
    pixels_of,
    place_of,
    saved,
)

PINK = (0xFF, 0x5F, 0xA2)


def _row_of_seven() -> reknit.Scenario:
    """A row of seven UAVs with a gap in it: whoever is struck next is easy to see."""
    places = [[100.0 * number, 0.0] for number in range(8)]
    return reknit.Scenario(places, [3], radio_range_m=120.0)


def _strike(page: Page, after_s: float, *uavs: int) -> None:
    """Click UAVs of the row that are to be lost after a time."""
    page.fill("#strike-time", str(after_s))
    box = page.locator(".panel canvas").bounding_box()
    assert box is not None
    for uav in uavs:
        place = place_of(page, [100.0 * uav, 0.0])
        page.mouse.click(box["x"] + place[0], box["y"] + place[1])


def test_strikes_over_time_are_what_python_flies(
    page: Page, service: Running, tmp_path: Path
) -> None:
    """Two strikes after the damage: every planner plans anew from where its flight is then, and
    the swarm is whole at the instant that `recover_repeatedly` and the shown program say.
    """
    open_studio(page, service)
    load(page, _row_of_seven())
    _strike(page, 1.0, 5)
    _strike(page, 4.5, 0, 7)
    assert "1 more at 1 s, 2 more at 4.5 s" in page.inner_text("#summary")
    pixels = pixels_of(page)
    for uav in (0, 5, 7):
        x, y = (round(value) for value in place_of(page, [100.0 * uav, 0.0]))
        near = pixels[y - 8 : y + 8, x - 8 : x + 8]
        assert (np.abs(near - np.asarray(PINK)).max(axis=2) < 40).sum() > 5, uav
    choose(page, "certified", "sidr")
    page.click("#mend-now")
    mended(page, 2)
    page.evaluate("reknit.stage.playing = false")
    strikes = [reknit.Strike(1.0, uavs=(5,)), reknit.Strike(4.5, uavs=(0, 7))]
    runs = page.evaluate(
        """reknit.runs.map(({planner, recovery}) => ({
            planner, at: recovery.flight.reconnected_at_s, path: recovery.metrics.path_length_m,
            begins: recovery.phases.map((phase) => phase.begin)}))"""
    )
    for run in runs:
        own = reknit.recover_repeatedly(_row_of_seven(), run["planner"], strikes)
        assert run["begins"] == list(own.begins_s) == [0.0, 1.0, 4.5]
        assert run["at"] == own.reconnected_at_s, run["planner"]
        assert run["path"] > 0.0
    page.evaluate("reknit.stage.setTime(0.5)")
    assert page.evaluate("reknit.stage.pictureNow(reknit.stage.panels[0]).points.length") == 14
    page.evaluate("reknit.stage.setTime(2)")
    assert page.evaluate("reknit.stage.pictureNow(reknit.stage.panels[0]).points.length") == 12
    open_all(page)
    saved(page, "#save-scenario", tmp_path)
    flight = saved(page, "#save-flight", tmp_path).read_text().splitlines()[1:]
    rows = np.asarray([line.split(",")[:2] for line in flight], dtype=float)
    assert 5 in rows[rows[:, 0] < 1.0][:, 1]
    assert 5 not in rows[rows[:, 0] >= 1.0][:, 1]
    page.click("#show-commands")
    program = page.inner_text("#python")
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    printed = dict(line.split() for line in done.stdout.splitlines())
    assert {name: float(at) for name, at in printed.items()} == {
        run["planner"]: run["at"] for run in runs
    }
    for line in page.inner_text("#shell").splitlines():
        name, *words = line.split()
        assert name == "reknit"
        done = subprocess.run(
            [sys.executable, "-m", "reknit", *words, "--json"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        at = next(run["at"] for run in runs if run["planner"] in words)
        assert json.loads(done.stdout)["reconnected_at_s"] == at


def test_a_link_holds_strikes_and_undo_takes_them_back(
    page: Page, service: Running, browser: Browser
) -> None:
    """A second click spares a UAV again, nobody is lost twice, and a link opens with the rest."""
    open_studio(page, service)
    load(page, _row_of_seven())
    _strike(page, 2.0, 1, 6)
    _strike(page, 3.0, 6)  # lost by then
    assert page.inner_text("#summary").endswith("To come: 2 more at 2 s.")
    _strike(page, 2.0, 1)
    assert page.inner_text("#summary").endswith("To come: 1 more at 2 s.")
    open_all(page)
    page.click("#share")
    until(lambda: "#view=" in page.evaluate("location.href"))
    other = browser.new_page()
    other.goto(page.evaluate("location.href"))
    until(lambda: "To come: 1 more at 2 s." in other.inner_text("#summary"))
    other.close()
    for _ in range(4):
        page.click("#undo")
    until(lambda: "To come" not in page.inner_text("#summary"))
    assert page.evaluate("reknit.scenario.destroyed") == [3]


@pytest.mark.parametrize("strikes", ['"x"', '[{"time_s": -1, "uavs": [1]}]', '[{"uavs": 3}]'])
def test_strikes_of_a_bad_link_are_left_out(page: Page, service: Running, strikes: str) -> None:
    """What makes no sense for the swarm of a link is no strike."""
    open_studio(page, service)
    kept = page.evaluate(
        """async (text) => (await import('/studio/strikes.js'))
            .readStrikes(JSON.parse(text), reknit.scenario)""",
        strikes,
    )
    assert kept == []
