"""Keyboard, touch and assistive technology."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page

from tests.serve.running import Running, until
from tests.serve.studio.browser import (
    AXE,
    IS_CI,
    choose,
    load,
    mended,
    open_all,
    open_studio,
    place_of,
    settle,
    two_groups,
)


def test_by_keyboard_alone(page: Page, service: Running) -> None:
    """Generate, strike, mend, play and step without a pointer."""
    open_studio(page, service)
    before = page.evaluate("reknit.scenario.destroyed.length")
    page.focus(".panel canvas")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    assert abs(page.evaluate("reknit.scenario.destroyed.length") - before) == 1
    page.keyboard.press("Control+z")
    assert page.evaluate("reknit.scenario.destroyed.length") == before
    choose(page, "certified", "contraction")
    page.keyboard.press("m")
    mended(page, 2)
    page.evaluate("reknit.stage.playing = false")
    page.evaluate("reknit.stage.setTime(0)")
    page.keyboard.press(".")
    settle(page)
    assert page.inner_text(".clock") == "0.10 s"
    page.keyboard.press("k")
    until(lambda: page.evaluate("reknit.stage.time") > 0.2)
    reached = set()
    page.evaluate("document.activeElement.blur()")
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.id"))
    assert {"generate", "mend", "mend-now", "show-swarm", "play", "time", "speed"} <= reached


@pytest.mark.skipif(
    not AXE.exists() and not IS_CI, reason="axe-core is not installed: run `bash tests/check_page`"
)
@pytest.mark.parametrize("theme", ["dark", "light"])
def test_accessibility(page: Page, service: Running, theme: str) -> None:
    """axe-core has no serious finding, before and after mending, in both themes."""
    page.emulate_media(color_scheme="light" if theme == "light" else "dark")
    open_studio(page, service)
    open_all(page)
    choose(page, "certified", "contraction")
    for step in ("made", "mended"):
        if step == "mended":
            page.click("#mend-now")
            mended(page, 2)
        page.evaluate(AXE.read_text())
        found = page.evaluate("axe.run()")
        serious = [
            (rule["id"], [node["target"] for node in rule["nodes"]])
            for rule in found["violations"]
            if rule["impact"] in ("serious", "critical")
        ]
        assert not serious, (step, serious)


def test_by_touch_on_a_tablet(browser: Browser, service: Running) -> None:
    """On 1024 x 768 with fingers: everything fits, a tap strikes, two fingers zoom, a tap on a
    flight tells of the UAV.
    """
    context = browser.new_context(viewport={"width": 1024, "height": 768}, has_touch=True)
    page = context.new_page()
    open_studio(page, service)
    load(page, two_groups())
    assert page.evaluate("document.documentElement.scrollWidth") <= 1024
    box = page.locator(".panel canvas").bounding_box()
    assert box is not None
    place = place_of(page, [100, 100])
    page.touchscreen.tap(box["x"] + place[0], box["y"] + place[1])
    until(lambda: page.evaluate("reknit.scenario.destroyed.length") == 2)
    page.locator("#undo").tap()
    until(lambda: page.evaluate("reknit.scenario.destroyed.length") == 1)
    scale = page.evaluate("reknit.stage.camera.scale")
    session = context.new_cdp_session(page)
    middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    for kind, apart in (("touchStart", 40), ("touchMove", 80), ("touchMove", 160)):
        fingers = [
            {"x": middle[0] + side * apart, "y": middle[1], "id": number}
            for number, side in enumerate((-1, 1))
        ]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": fingers})
    session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    until(lambda: page.evaluate("reknit.stage.camera.scale") > 2 * scale)
    assert page.evaluate("reknit.scenario.destroyed.length") == 1  # no strike by the way
    choose(page, "certified", "contraction")
    # Chromium makes no click of about one tap in twenty that follows two lifted fingers within
    # 0.1 s, quicker than any hand.
    page.wait_for_timeout(500)
    page.locator("#mend-now").tap()
    mended(page, 2)
    page.evaluate("reknit.stage.playing = false; reknit.stage.setTime(0)")
    settle(page)
    box = page.locator(".panel canvas").first.bounding_box()
    assert box is not None
    place = page.evaluate(
        """() => {
            const { stage } = reknit;
            const { clientWidth, clientHeight } = stage.panels[0].canvas;
            stage.camera.resize(clientWidth, clientHeight);
            return stage.camera.project(0, 0, 0);
        }"""
    )
    page.touchscreen.tap(box["x"] + place[0], box["y"] + place[1])
    until(lambda: page.locator("#tip").is_visible())
    assert "UAV 0" in page.inner_text("#tip")
    context.close()
