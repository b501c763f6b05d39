"""Making a swarm and breaking it."""

from __future__ import annotations

from playwright.sync_api import Page

import reknit
from reknit.swarm.demands import demand_fields
from tests.serve.running import Running
from tests.serve.studio.browser import (
    choose,
    load,
    mended,
    open_all,
    open_studio,
    two_groups,
)


def test_strikes_painted_and_chosen(page: Page, service: Running) -> None:
    """Disc, lasso, the most critical and random losses all break the swarm."""
    open_studio(page, service)
    load(page, reknit.generate(80, [], seed=2))
    assert page.evaluate("reknit.scenario.destroyed.length") == 0
    box = page.locator(".panel canvas").bounding_box()
    assert box is not None
    middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.click("[data-tool=disc]")
    page.mouse.click(*middle)
    by_disc = page.evaluate("reknit.scenario.destroyed.length")
    assert 0 < by_disc < 80
    page.click("[data-tool=lasso]")
    page.mouse.move(box["x"] + 5, box["y"] + 5)
    page.mouse.down()
    for x, y in ((middle[0], box["y"] + 5), middle, (box["x"] + 5, middle[1])):
        page.mouse.move(x, y, steps=3)
    page.mouse.up()
    by_lasso = page.evaluate("reknit.scenario.destroyed.length")
    assert by_disc < by_lasso < 80
    page.fill("#critical-count", "4")
    page.click("#strike-critical")
    assert page.evaluate("reknit.scenario.destroyed.length") == by_lasso + 4
    page.click("#strike-random")
    assert page.evaluate("reknit.scenario.destroyed.length") > by_lasso + 4
    ids = page.evaluate("reknit.scenario.destroyed")
    own = reknit.generate(80, ids, seed=2)
    count = page.evaluate("reknit.stage.panels[0].picture.network.count")
    assert count == own.subnet_count


def test_demands_make_their_own_form(page: Page, service: Running) -> None:
    """Every demand that scenarios declare has a control, and what is typed reaches the plan."""
    open_studio(page, service)
    load(page, two_groups())
    open_all(page)
    for name in demand_fields():
        assert page.locator(f"#field-{name}").count() == 1, name
    page.fill("#demands #field-link_margin", "0.25")
    page.fill("#demands #field-anchors", "0, 1")
    page.click("#apply-demands")
    choose(page, "certified")
    page.click("#mend")
    mended(page, 1)
    want = reknit.Scenario(
        two_groups().positions, [3], radio_range_m=120.0, link_margin=0.25, anchors=[0, 1]
    )
    planned = page.evaluate("reknit.runs[0].recovery.plan.recovery_time_s")
    assert planned == reknit.plan(want, "certified").recovery_time_s
