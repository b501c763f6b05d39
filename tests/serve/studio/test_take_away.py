"""What can be taken away."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import Browser, Page

import reknit
from tests.serve.running import Running, until
from tests.serve.studio.browser import (
    choose,
    load,
    mended,
    open_all,
    open_studio,
    saved,
    two_groups,
)


def test_a_link_holds_the_whole_view(page: Page, service: Running, browser: Browser) -> None:
    """The link opens the same scenario and planners in another browser window."""
    open_studio(page, service)
    load(page, two_groups())
    choose(page, "hero", "certified")
    open_all(page)
    page.click("#share")
    until(lambda: "#view=" in page.evaluate("location.href"))
    other = browser.new_page()
    other.goto(page.evaluate("location.href"))
    until(lambda: bool(other.evaluate("Boolean(window.reknit?.scenario)")))
    assert other.evaluate("reknit.scenario") == page.evaluate("reknit.scenario")
    chosen = "[...document.querySelectorAll('#planners input:checked')].map((box) => box.value)"
    assert other.evaluate(chosen) == ["hero", "certified"]
    other.close()


def test_what_can_be_taken_away(page: Page, service: Running, tmp_path: Path) -> None:
    """Pictures, scenario, plan and flight are files that open, and say what the run said."""
    open_studio(page, service)
    load(page, two_groups())
    choose(page, "certified", "hero")
    page.click("#mend-now")
    mended(page, 2)
    open_all(page)
    with Image.open(saved(page, "#save-png", tmp_path)) as picture:
        assert picture.size[0] > 600
    assert saved(page, "#save-svg", tmp_path).read_text().startswith("<svg")
    scenario = reknit.load_scenario(saved(page, "#save-scenario", tmp_path))
    assert scenario == two_groups()
    table = reknit.load_scenario(saved(page, "#save-table", tmp_path))
    assert np.array_equal(table.positions, scenario.positions)
    assert np.array_equal(table.destroyed, scenario.destroyed)
    plan = reknit.Plan.load(saved(page, "#save-plan", tmp_path))
    plan.verify(scenario)
    lines = saved(page, "#save-flight", tmp_path).read_text().splitlines()
    assert lines[0] == "time_s,uav_id,x_m,y_m"
    last = [float(value) for value in lines[-1].split(",")]
    own = reknit.recover(scenario, "certified").flight
    assert last == [own.times_s[-1], 5.0, *own.positions[-1, -1]]


def test_the_commands_reproduce_the_view(page: Page, service: Running, tmp_path: Path) -> None:
    """The Python program and the shell command, run as they are shown, give the shown times."""
    open_studio(page, service)
    load(page, two_groups())
    choose(page, "certified", "contraction")
    page.click("#mend-now")
    mended(page, 2)
    shown = {
        run["planner"]: run["recovery"]["flight"]["reconnected_at_s"]
        for run in page.evaluate("reknit.runs.map(({planner, recovery}) => ({planner, recovery}))")
    }
    open_all(page)
    saved(page, "#save-scenario", tmp_path)
    page.click("#show-commands")
    program = page.inner_text("#python")
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    printed = dict(line.split() for line in done.stdout.splitlines())
    assert {name: float(time_s) for name, time_s in printed.items()} == shown
    name, *words = page.inner_text("#shell").split()
    assert name == "reknit"
    subprocess.run([sys.executable, "-m", "reknit", *words], cwd=tmp_path, check=True)
    rows = json.loads((tmp_path / "compare" / "comparison.json").read_text())
    assert {row["planner"]: row["metrics"]["flown_time_s"] for row in rows} == shown


def test_a_generated_swarm_needs_no_file(page: Page, service: Running, tmp_path: Path) -> None:
    """As long as nobody has touched it, the commands generate the same swarm themselves."""
    open_studio(page, service)
    choose(page, "certified")
    page.click("#mend-now")
    mended(page, 1)
    shown = page.evaluate("reknit.runs[0].recovery.flight.reconnected_at_s")
    open_all(page)
    page.click("#show-commands")
    program = page.inner_text("#python")
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["certified", str(shown)]
    own = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{own}:{os.environ['PATH']}"}
    text = page.inner_text("#shell").replace("reknit compare", "python -m reknit compare")
    subprocess.run(["bash", "-ec", text], cwd=tmp_path, env=environment, check=True)
    rows = json.loads((tmp_path / "compare" / "comparison.json").read_text())
    assert [row["metrics"]["flown_time_s"] for row in rows] == [shown]


def test_a_film_moves(page: Page, service: Running, tmp_path: Path) -> None:
    """The WebM is one, and plays in a browser to its end with pictures that differ."""
    open_studio(page, service)
    load(page, two_groups())
    choose(page, "certified")
    page.click("#mend-now")
    mended(page, 1)
    open_all(page)
    film = saved(page, "#save-film", tmp_path).read_bytes()
    assert film[:4] == b"\x1a\x45\xdf\xa3"  # the mark of Matroska, which WebM is
    changed = page.evaluate(
        """async (text) => {
            const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
            const video = document.createElement('video');
            video.muted = true;
            video.src = URL.createObjectURL(new Blob([bytes], {type: 'video/webm'}));
            await new Promise((done, fail) => { video.onloadeddata = done; video.onerror = fail; });
            const canvas = document.createElement('canvas');
            canvas.width = video.videoWidth;
            canvas.height = video.videoHeight;
            const ink = canvas.getContext('2d');
            const look = () => {
                ink.drawImage(video, 0, 0);
                return ink.getImageData(0, 0, canvas.width, canvas.height).data;
            };
            const first = look();
            await new Promise((done) => { video.onended = done; video.play(); });
            const last = look();
            return first.filter((value, k) => Math.abs(value - last[k]) > 60).length;
        }""",
        base64.b64encode(film).decode(),
    )
    assert changed > 500
