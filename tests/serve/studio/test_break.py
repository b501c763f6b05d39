"""Making a swarm and breaking it."""

from __future__ import annotations

import numpy as np
import pytest
from playwright.sync_api import Page

import reknit
from reknit.swarm.demands import demand_fields
from tests.serve.running import Running, until
from tests.serve.studio.browser import (
    choose,
    load,
    mended,
    open_all,
    open_studio,
    place_of,
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


def test_a_corridor_hits_what_it_covers(page: Page, service: Running) -> None:
    """Those within half a brush of the dragged line are lost, and nobody else."""
    open_studio(page, service)
    load(page, reknit.generate(80, [], seed=2))
    page.click("[data-tool=corridor]")
    box = page.locator(".panel canvas").bounding_box()
    assert box is not None
    begin, end = np.asarray([120.0, 80.0]), np.asarray([620.0, 420.0])
    places = np.asarray(
        page.evaluate(
            "reknit.scenario.positions_m.map((row) => reknit.stage.camera.project(...row, 0))"
        )
    )
    page.mouse.move(box["x"] + begin[0], box["y"] + begin[1])
    page.mouse.down()
    page.mouse.move(box["x"] + end[0], box["y"] + end[1], steps=5)
    page.mouse.up()
    along = np.clip((places - begin) @ (end - begin) / ((end - begin) @ (end - begin)), 0.0, 1.0)
    away = np.linalg.norm(places - begin - along[:, None] * (end - begin), axis=1)
    width = page.evaluate("reknit.editor.brush")
    assert page.evaluate("reknit.scenario.destroyed") == np.flatnonzero(away <= width / 2).tolist()
    assert 0 < (away <= width / 2).sum() < 80


def test_a_swarm_is_edited_by_hand(page: Page, service: Running) -> None:
    """Add, drag and take out UAVs with the pointer; every step can be undone."""
    open_studio(page, service)
    load(page, two_groups())
    box = page.locator(".panel canvas").bounding_box()
    assert box is not None

    def screen(x_m: float, y_m: float) -> tuple[float, float]:
        place = place_of(page, [x_m, y_m])
        return box["x"] + place[0], box["y"] + place[1]

    page.click("[data-tool=add]")
    page.mouse.click(*screen(200.0, 90.0))
    assert page.evaluate("reknit.scenario.positions_m.length") == 7
    assert page.evaluate("reknit.scenario.positions_m[6]") == pytest.approx([200.0, 90.0], abs=1.0)
    assert "still one network" not in page.inner_text("#summary")
    page.click("[data-tool=move]")
    page.mouse.move(*screen(200.0, 90.0))
    page.mouse.down()
    page.mouse.move(*screen(200.0, 0.0), steps=4)
    page.mouse.up()
    assert page.evaluate("reknit.scenario.positions_m[6]") == pytest.approx([200.0, 0.0], abs=1.0)
    assert "still one network" in page.inner_text("#summary")
    page.click("#undo")
    assert page.evaluate("reknit.scenario.positions_m[6][1]") == pytest.approx(90.0, abs=1.0)
    page.click("[data-tool=remove]")
    page.mouse.click(*screen(0.0, 0.0))
    assert page.evaluate("reknit.scenario.positions_m.length") == 6
    assert page.evaluate("reknit.scenario.destroyed") == [2]  # those after it moved up
    page.click("#undo")
    assert page.evaluate("reknit.scenario.destroyed") == [3]


def test_a_file_is_dropped(page: Page, service: Running) -> None:
    """A table dropped on the page is opened; one that is none is answered and changes nothing."""
    open_studio(page, service)
    drop = """([name, text]) => {
        const carried = new DataTransfer();
        carried.items.add(new File([text], name));
        document.body.dispatchEvent(
            new DragEvent('drop', { dataTransfer: carried, bubbles: true, cancelable: true }));
    }"""
    table = 'uav_id,x_m,y_m,alive\na,0,0,1\nb,90,0,0\n"c, ""the"" last",180,0,1\n'
    page.evaluate(drop, ["swarm.csv", table])
    until(lambda: "Opened swarm.csv" in page.inner_text("#status"))
    before = page.evaluate("reknit.scenario")
    assert (before["names"], before["destroyed"]) == (["a", "b", 'c, "the" last'], [1])
    page.evaluate(drop, ["swarm.csv", table.replace("90,0,0", "ninety,0,0")])
    until(lambda: 'line 3 is "b,ninety,0,0"' in page.inner_text("#status"))
    assert page.evaluate("reknit.scenario") == before


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
