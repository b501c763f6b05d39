"""What is drawn is where it must be."""

from __future__ import annotations

import numpy as np
from playwright.sync_api import Page

import reknit
from tests.serve.running import Running
from tests.serve.studio.browser import (
    BLUE,
    ORANGE,
    colour_at,
    is_near,
    load,
    open_studio,
    pixels_of,
    place_of,
    two_groups,
)


def test_uavs_and_links_are_where_they_must_be(page: Page, service: Running) -> None:
    """Survivors have the colour of their sub-net, links run between them, and nowhere else."""
    open_studio(page, service)
    load(page, two_groups())
    assert "2 sub-nets" in page.inner_text("#summary")
    pixels = pixels_of(page)
    for point in ([0, 0], [100, 0], [100, 100]):
        assert is_near(colour_at(pixels, place_of(page, point)), BLUE), point
    for point in ([300, 0], [400, 0]):
        assert is_near(colour_at(pixels, place_of(page, point)), ORANGE), point
    ground = colour_at(pixels, place_of(page, [250, 60]))
    blue_link = colour_at(pixels, place_of(page, [50, 0]))
    assert blue_link[2] > ground[2] + 40
    gap = place_of(page, [250, 0])
    column = pixels[round(gap[1]) - 3 : round(gap[1]) + 4, round(gap[0])]
    assert np.abs(column - np.asarray(ground)).max() <= 20  # a line of the grid


def test_three_dimensions_turn(page: Page, service: Running) -> None:
    """A swarm in space is drawn, and dragging with the hand turns it."""
    open_studio(page, service)
    load(page, reknit.generate(60, 0.4, seed=1, dim=3))
    page.click("[data-tool=pan]")
    before = pixels_of(page)
    box = page.locator(".panel canvas").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 200, box["y"] + 200)
    page.mouse.down()
    page.mouse.move(box["x"] + 320, box["y"] + 240, steps=4)
    page.mouse.up()
    after = pixels_of(page)
    blue = [(np.abs(x - np.asarray(BLUE)).max(axis=2) < 24).sum() for x in (before, after)]
    assert min(blue) > 200
    assert (np.abs(before - after).max(axis=2) > 24).sum() > 1000


def test_every_painter_draws_the_same(page: Page, service: Running) -> None:
    """The graphics card's painter (here computed), the pixel painter and the canvas's own paths
    agree but for their smooth edges.
    """
    open_studio(page, service)
    load(page, reknit.generate(30, 0.4, seed=1, split=True))
    marked, card, pixels = page.evaluate(
        """async () => {
            const { makeGlPainter } = await import('/studio/gl.js');
            const { PixelPainter } = await import('/studio/pixels.js');
            const { paintSwarm } = await import('/studio/paint.js');
            const { drawSwarm } = await import('/studio/draw.js');
            const { camera, panels } = reknit.stage;
            camera.resize(320, 200);
            const picture = panels[0].picture;
            const canvas = document.createElement('canvas');
            canvas.width = 320;
            canvas.height = 200;
            const ink = canvas.getContext('2d');
            const look = (painter) => {
                if (painter) paintSwarm(ink, camera, picture, 'dark', 1, painter);
                else drawSwarm(ink, camera, picture, 'dark');
                return ink.getImageData(0, 0, 320, 200).data;
            };
            const differing = (a, b, by) => {
                let count = 0;
                for (let k = 0; k < a.length; k++) count += Math.abs(a[k] - b(k)) > by;
                return count / a.length;
            };
            const paths = look(null);
            const card = look(makeGlPainter(false));
            const pixels = look(new PixelPainter());
            return [
                differing(paths, (k) => paths[k % 4], 40),
                differing(paths, (k) => card[k], 80),
                differing(paths, (k) => pixels[k], 80),
            ];
        }"""
    )
    assert marked > 0.02  # there is something to compare
    assert card < 0.1 * marked
    assert pixels < 0.1 * marked
