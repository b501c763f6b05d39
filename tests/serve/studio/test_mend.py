"""Mending side by side, watching it, and seeing why."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Page

import reknit
from reknit.network.cuts import cut_nodes_and_bridges
from reknit.network.hops import hops_within
from reknit.network.links import adjacency
from reknit.network.links import links as radio_links
from tests.serve.running import Running, until
from tests.serve.studio.browser import (
    BLUE,
    ORANGE,
    choose,
    colour_at,
    is_near,
    load,
    mended,
    open_all,
    open_studio,
    pixels_of,
    place_of,
    two_groups,
)


def test_break_mend_compare(page: Page, service: Running) -> None:
    """A stranger's way: strike a UAV, mend with three planners, watch them on one time line."""
    open_studio(page, service)
    load(page, two_groups())
    place = place_of(page, [100, 100])
    box = page.locator(".panel canvas").bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + place[0], box["y"] + place[1])
    until(lambda: "2 destroyed" in page.inner_text("#summary"))
    page.click("#undo")
    until(lambda: "1 destroyed" in page.inner_text("#summary"))
    choose(page, "certified", "contraction", "center-fly")
    page.click("#mend-now")
    mended(page, 3)
    assert page.locator(".panel").count() == 3
    own = reknit.plan(two_groups(), "certified")
    assert own.recovery_time_s == pytest.approx(4.0)  # 200 m to close to 120 m, two of 10 m/s
    certified = page.locator(".panel", has_text="certified")
    assert f"{own.recovery_time_s:.2f} s" in certified.inner_text()
    assert "optimal" in certified.inner_text()
    page.evaluate("reknit.stage.playing = false")
    page.evaluate("reknit.stage.setTime(0)")
    number = page.evaluate("reknit.runs.findIndex((run) => run.planner === 'certified')")
    assert is_near(colour_at(pixels_of(page, number), place_of(page, [300, 0])), ORANGE)
    page.evaluate("reknit.stage.setTime(reknit.stage.end)")
    end = own.targets[-1].tolist()
    assert is_near(colour_at(pixels_of(page, number), place_of(page, end)), BLUE)
    chart = page.locator("#chart").screenshot()
    seen = np.asarray(Image.open(io.BytesIO(chart)).convert("RGB")).astype(int)
    proof = (np.abs(seen - np.asarray([0xFF, 0x5F, 0xA2])).max(axis=2) < 40).sum(axis=0)
    assert proof.max() > 30  # the bound is a line from top to bottom


def test_learning_is_seen_while_it_happens(page: Page, service: Running) -> None:
    """While ML-DAGL iterates, a second at this size, the map shows where its network sends the
    survivors, again elsewhere, and the best time so far falls.
    """
    open_studio(page, service)
    load(page, reknit.generate(800, 0.5, seed=3, split=True))
    choose(page, "ml-dagl")
    page.evaluate(
        """() => {
            window.seen = [];
            const update = reknit.stage.updateRun.bind(reknit.stage);
            reknit.stage.updateRun = (run) => {
                update(run);
                const panel = reknit.stage.panels[0];
                const picture = reknit.stage.pictureNow(panel);
                if (!run.recovery && run.preview) seen.push([...picture.points.slice(0, 40)]);
            };
        }"""
    )
    page.click("#mend-now")
    mended(page, 1)
    seen = page.evaluate("seen")
    assert len({tuple(places) for places in seen}) > 1
    history = page.evaluate("reknit.runs[0].history")
    values = page.evaluate(
        "async (told) => (await import('/studio/chart.js')).liveValues(told)", history
    )
    assert values["best"] == sorted(values["best"], reverse=True)


def test_the_proof_is_seen_while_it_rises(page: Page, service: Running) -> None:
    """While `certified` searches, the pink line of its bound and the orange one of its plan are
    drawn over the map, and the bound rises towards the plan.
    """
    open_studio(page, service)
    load(page, reknit.generate(1_000, 0.95, seed=3, split=True))
    choose(page, "certified")
    page.click("#mend-now")
    until(lambda: bool(page.evaluate("reknit.runs[0].history.length > 2")))
    shot = pixels_of(page)
    if page.evaluate("reknit.runs[0].recovery === null"):
        pink = np.abs(shot - np.asarray([0xFF, 0x5F, 0xA2])).max(axis=2) < 40
        assert pink.sum() > 100
    mended(page, 1)
    bounds = page.evaluate("reknit.runs[0].history.map((told) => told.lower_bound_s)")
    assert bounds == sorted(bounds)
    assert bounds[0] < bounds[-1]


def test_the_pointer_tells_of_a_uav(page: Page, service: Running) -> None:
    """Under the pointer: id, speed, path; and the whole path is drawn."""
    open_studio(page, service)
    load(page, two_groups())
    choose(page, "certified")
    page.click("#mend-now")
    mended(page, 1)
    page.evaluate("reknit.stage.playing = false")
    page.evaluate("reknit.stage.setTime(1)")
    box = page.locator(".panel canvas").bounding_box()
    assert box is not None
    own = reknit.recover(two_groups(), "certified").flight
    place = place_of(page, [300.0 - own.path_lengths_m[3] / own.duration_s, 0.0])
    before = pixels_of(page)
    page.mouse.move(box["x"] + place[0], box["y"] + place[1])
    until(lambda: page.locator("#tip").is_visible())
    tip = page.inner_text("#tip")
    assert "UAV 4" in tip
    assert "now at 10.0 m/s" in tip
    assert f"path is {own.path_lengths_m[3]:.0f} m" in tip
    page.evaluate("document.getElementById('tip').hidden = true")
    assert (np.abs(pixels_of(page) - before).max(axis=2) > 60).sum() > 60


def test_why_shows_what_python_counts(page: Page, service: Running) -> None:
    """Critical UAVs and the pairs of ML-DAGL's branches are those that the package finds."""
    scenario = reknit.generate(90, 0.4, seed=6)
    open_studio(page, service)
    load(page, scenario)
    open_all(page)
    page.fill("#branch", "2")
    near = hops_within(adjacency(scenario.links, scenario.uavs), 2)
    pairs = near[scenario.survivors][:, scenario.destroyed].nnz
    until(lambda: f"joins {pairs} pairs" in page.inner_text("#branch-text"))
    found = page.evaluate(
        """async () => {
            const { cutNodes, findLinks } = await import('/studio/network.js');
            const { points, dim, range } = reknit.stage.panels[0].picture;
            return cutNodes(points.length / dim, findLinks(points, dim, range));
        }"""
    )
    links = radio_links(scenario.survivor_positions, scenario.radio_range_m)
    cut, _ = cut_nodes_and_bridges(links, len(scenario.survivors))
    assert found == sorted(cut.tolist())
