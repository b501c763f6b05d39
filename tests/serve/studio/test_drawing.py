"""What is drawn is where it must be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
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


_SEEN_BY = {
    # Machado, Oliveira and Fernandes 2009, severity 1, on linear RGB.
    "everybody": np.eye(3),
    "protanopes": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
    "deuteranopes": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
    "tritanopes": [[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]],
}


def _lab(colours: list[str], matrix: Any) -> Any:
    """CIE L*a*b* of colours as somebody sees them; a difference of 2 is just noticeable."""
    rgb = np.asarray([[int(text[k : k + 2], 16) / 255 for k in (1, 3, 5)] for text in colours])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    seen = np.clip(linear @ np.asarray(matrix).T, 0.0, 1.0)
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    xyz = seen @ np.asarray(to_xyz).T / [0.9505, 1.0, 1.089]
    root = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    x, y, z = root.T
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=1)


@pytest.mark.parametrize("mode", ["dark", "light"])
@pytest.mark.parametrize("eyes", _SEEN_BY)
def test_colours_can_be_told_apart(page: Page, service: Running, mode: str, eyes: str) -> None:
    """Sub-nets, runs and the pink of proofs differ clearly for every kind of eyes; the swatches
    beside the runs' names have the colours of their lines.
    """
    page.emulate_media(color_scheme="light" if mode == "light" else "dark")
    page.goto(service.url)
    colours = page.evaluate(
        """async (mode) => {
            const { SUBNET_COLOURS, THEME } = await import('/studio/draw.js');
            return [...SUBNET_COLOURS[mode], THEME[mode].proof];
        }""",
        mode,
    )
    places = _lab(colours, _SEEN_BY[eyes])
    apart = np.linalg.norm(places[:, None] - places[None], axis=2)
    assert (apart + 1e9 * np.eye(len(colours))).min() > 18.0
    swatches = page.evaluate(
        """[0, 1, 2, 3, 4, 5].map((k) =>
            getComputedStyle(document.documentElement).getPropertyValue(`--c${k}`).trim())"""
    )
    assert swatches == colours[:6]
