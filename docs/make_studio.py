"""Makes the pictures of docs/studio.md from a real service in a real browser.

Run: python docs/make_studio.py
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

PICTURES = Path(__file__).parent / "img"


def main() -> None:
    """Start the service, mend a swarm, take the pictures."""
    command = [sys.executable, "-m", "reknit", "serve", "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)  # noqa: S603
    if process.stdout is None:
        raise RuntimeError("the service cannot be listened to")
    try:
        line = process.stdout.readline()
        take(next(word for word in line.split() if word.startswith("http")))
    finally:
        process.terminate()
        process.wait()


def take(url: str) -> None:
    """The pictures of the tour, in its order."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        size = {"width": 1280, "height": 720}
        page = browser.new_page(viewport=size, color_scheme="dark")  # type: ignore[arg-type]
        page.goto(url)
        _until(page, "Boolean(window.reknit?.scenario)")
        _strike(page)
        page.screenshot(path=PICTURES / "studio-break.png")
        page.mouse.up()
        page.click("[data-tool=click]")
        _watch(page)
        page.screenshot(path=PICTURES / "studio-live.png")
        page.goto("about:blank")  # a page that goes lets go of its jobs
        page.goto(url)
        _until(page, "Boolean(window.reknit?.scenario)")
        page.click("#mend-now")
        _until(page, "reknit.runs.length && reknit.runs.every((run) => run.recovery)")
        page.evaluate("reknit.stage.playing = false")
        page.evaluate("reknit.stage.setTime(reknit.stage.bound * 0.9)")
        page.evaluate("document.querySelector('aside').scrollTo(0, 0)")
        time.sleep(0.5)
        page.screenshot(path=PICTURES / "studio.png")
        page.evaluate(
            "document.querySelectorAll('aside > details')"
            ".forEach((part, number) => { part.open = number > 1; })"
        )
        page.click("#why-show")
        page.mouse.move(5, 5)
        time.sleep(0.5)
        page.screenshot(path=PICTURES / "studio-why.png")
        _strike_later(page)
        page.screenshot(path=PICTURES / "studio-strikes.png")
        browser.close()


def _strike(page: Page) -> None:
    """Drag a corridor and hold it, as a user in the middle of a strike sees it."""
    page.click("[data-tool=corridor]")
    box = page.locator(".panel canvas").bounding_box()
    if box is None:
        raise RuntimeError("the map cannot be seen")
    page.mouse.move(box["x"] + 0.45 * box["width"], box["y"] + 0.15 * box["height"])
    page.mouse.down()
    page.mouse.move(box["x"] + 0.62 * box["width"], box["y"] + 0.6 * box["height"], steps=8)
    time.sleep(0.3)


def _watch(page: Page) -> None:
    """Planners at work on a swarm on which they need a while."""
    page.fill("#generation #field-uavs", "600")
    page.fill("#generation #field-destroyed", "0.9")
    page.click("#generate")
    _until(page, "reknit.scenario.positions_m.length === 600")
    page.uncheck("#planner-hero")
    page.check("#planner-cr-mgc")
    page.click("#mend-now")
    _until(page, "reknit.runs.every((run) => run.history.length > 3 || run.recovery)")
    page.evaluate("document.querySelector('aside').scrollTo(0, 0)")


def _strike_later(page: Page) -> None:
    """Two further strikes during the flight, and the flights between and after them."""
    page.evaluate(
        "document.querySelectorAll('aside > details')"
        ".forEach((part, number) => { part.open = number < 3; })"
    )
    for after_s, losses in (("1.5", "3"), ("4", "5")):
        page.fill("#strike-time", after_s)
        page.fill("#critical-count", losses)
        page.click("#strike-critical")
    page.click("#mend-now")
    _until(page, "reknit.runs.length && reknit.runs.every((run) => run.recovery)")
    page.evaluate("reknit.stage.playing = false")
    page.evaluate("reknit.stage.setTime(4.2)")
    page.evaluate("document.querySelector('aside').scrollTo(0, 0)")
    page.mouse.move(5, 5)
    time.sleep(0.5)


def _until(page: Page, holds: str) -> None:
    while not page.evaluate(holds):
        time.sleep(0.1)


if __name__ == "__main__":
    main()
