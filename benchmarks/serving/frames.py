"""What a frame of the studio costs, and how many a second the browser shows."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import reknit
from benchmarks.serving.service import Served
from reknit.swarm.files import scenario_file

if TYPE_CHECKING:
    from playwright.sync_api import Page

SIZES = (1_000, 10_000)
_FRAMES = 60
_PAINT = """(frames) => {
    for (let k = 0; k < frames; k++) {
        reknit.stage.time = reknit.stage.end * k / frames;
        reknit.stage.paint();
        reknit.stage.panels[0].canvas.getContext('2d').getImageData(0, 0, 1, 1);
    }
}"""
_PLAY = """async () => {
    const { stage } = reknit;
    let frames = 0;
    const began = performance.now();
    await new Promise((done) => {
        const next = () => {
            frames += 1;
            if (stage.time >= stage.end * 0.95) stage.time = 0;
            stage.playing = true;
            if (performance.now() - began < 5000) requestAnimationFrame(next);
            else done();
        };
        requestAnimationFrame(next);
    });
    stage.playing = false;
    return frames / ((performance.now() - began) / 1000);
}"""


def measure_frames(service: Served) -> dict[str, Any] | None:
    """A frame at 1,000 and 10,000 UAVs in flight; None where chromium is not installed.

    No graphics card is needed or used: the marks are painted by the processor. The cost is the
    page's own processor time, by the clock of its thread, so that other programs do not count;
    frames a second are what was seen on the machine as it was.
    """
    chromium = shutil.which("chromium")
    if chromium is None:
        return None
    from playwright.sync_api import sync_playwright

    rows: list[dict[str, float]] = []
    with sync_playwright() as playwright:
        flags = ["--no-sandbox", "--enable-unsafe-swiftshader"]
        browser = playwright.chromium.launch(executable_path=chromium, args=flags)
        page = browser.new_page(viewport={"width": 1280, "height": 720})
        for uavs in SIZES:
            _fly(page, service.url, uavs)
            frame_ms = _paint_cpu_ms(page)
            shown = page.evaluate(_PLAY)
            rows.append({"uavs": uavs, "frame_cpu_ms": frame_ms, "shown_per_s": shown})
        browser.close()
    return {"rows": rows, "load": os.getloadavg()[0], "cores": os.cpu_count()}


def frames_text(row: dict[str, Any]) -> str:
    """The table of the frames."""
    lines = [
        "| UAVs in flight | processor time of a frame | frames a second shown |",
        "| --- | --- | --- |",
    ]
    lines += [
        f"| {one['uavs']:,} | {one['frame_cpu_ms']:.1f} ms | {one['shown_per_s']:.0f} |"
        for one in row["rows"]
    ]
    lines += [
        "",
        f"The load average was {row['load']:.1f} on {row['cores']} cores: the frames shown are what"
        " was left of the machine; processor time does not depend on it.",
    ]
    return "\n".join(lines)


def _fly(page: Page, url: str, uavs: int) -> None:
    """The flight of a certified plan for a swarm of this size, ready to be played."""
    page.goto(url)
    _until(lambda: page.evaluate("Boolean(window.reknit?.scenario)"))
    text = scenario_file(reknit.generate(uavs, 0.5, seed=1)).model_dump_json()
    file = {"name": "a.json", "mimeType": "application/json", "buffer": text.encode()}
    page.set_input_files("#file", file)  # type: ignore[arg-type]
    _until(lambda: page.evaluate("reknit.scenario.positions_m.length") == uavs)
    page.evaluate(
        """document.querySelectorAll('#planners input').forEach(
            (box) => { box.checked = box.value === 'certified'; })"""
    )
    page.click("#mend-now")
    _until(lambda: page.evaluate("reknit.runs.every((r) => r.recovery || r.problem)"))
    problem = page.evaluate("reknit.runs[0].problem")
    if problem:
        raise RuntimeError(f"nothing flies: {problem}")
    page.evaluate("reknit.stage.playing = false")


def _until(holds: Callable[[], bool]) -> None:
    while not holds():
        time.sleep(0.05)


def _paint_cpu_ms(page: Page) -> float:
    """Processor time of the page's thread for one frame, milliseconds; raster included."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def busy_s() -> float:
        metrics = session.send("Performance.getMetrics")["metrics"]
        return next(float(row["value"]) for row in metrics if row["name"] == "TaskDuration")

    page.evaluate(_PAINT, _FRAMES)  # the first frames compile the page's code
    before_s = busy_s()
    page.evaluate(_PAINT, _FRAMES)
    return (busy_s() - before_s) / _FRAMES * 1e3
