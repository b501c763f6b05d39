"""Pictures of every kind of run are drawn, and show what they should, pixel by pixel."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, Rectangle
from matplotlib.text import Text
from mpl_toolkits.mplot3d import proj3d
from PIL import Image

import reknit
from reknit.base.types import FloatArray, IntArray
from reknit.testing import kinds_of_scenario
from reknit.viz.animation import FRAMES, MOST_UAVS, frame_count, save_animation, thinning_note
from reknit.viz.comparison import comparison_figure
from reknit.viz.picture import recovery_figure, save_figure, scenario_figure
from reknit.viz.style import (
    LARGEST,
    PATH,
    SUBNETS,
    followed_ranks,
    subnet_colours,
    subnet_ranks,
)


def pixels_of(figure: Figure) -> IntArray:
    """(height, width, 3) what is drawn."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., :3].astype(np.int64)


def colour_at(figure: Figure, axes: Any, points: FloatArray) -> IntArray:
    """Colours of the pixels at points of the map."""
    pixels = pixels_of(figure)
    if points.shape[1] == 3:
        x, y, _ = proj3d.proj_transform(*points.T, axes.get_proj())
        points = np.stack([x, y], axis=1)
    columns, rows = axes.transData.transform(points).T
    return np.asarray(pixels[len(pixels) - 1 - rows.astype(int), columns.astype(int)])


def rgb(names: list[str]) -> IntArray:
    """Colours as bytes."""
    return np.asarray([np.round(255 * np.array(to_rgb(name))) for name in names], dtype=np.int64)


@pytest.mark.parametrize(("number", "kind"), list(enumerate(kinds_of_scenario())))
def test_every_kind_of_run_has_a_picture(number: int, kind: str) -> None:
    """No scenario is too odd to draw; the title says how it ended."""
    run = reknit.recover(kinds_of_scenario()[kind], ("hero", "contraction")[number % 2])
    figure = recovery_figure(run)
    title = figure.get_suptitle()
    if len(run.scenario.survivors) == 1:
        assert "one survivor" in title
    elif not run.scenario.is_split:
        assert "nobody has to move" in title
    else:
        assert ("whole again" in title) == run.metrics.converged
    assert (pixels_of(figure) == rgb([LARGEST])[0]).all(axis=2).sum() > 20


def test_the_title_does_not_hide_a_demand_that_is_not_met() -> None:
    """A flight that connects the swarm by moving an anchor is not told as a success."""
    split = reknit.Scenario([[0.0, 0.0], [100.0, 0.0], [300.0, 0.0]], (), 120.0, anchors=[2])
    assert "demands not met" in recovery_figure(reknit.recover(split, "contraction")).get_suptitle()
    assert "not met" not in recovery_figure(reknit.recover(split, "certified")).get_suptitle()


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("uavs", [12, 60, 4000])
def test_every_survivor_is_drawn_in_the_colour_of_its_subnet(uavs: int, dim: int) -> None:
    """At the pixel of each survivor that no other covers is the colour of its sub-net; the
    destroyed never cover one.
    """
    scenario = reknit.generate(uavs, uavs // 2, seed=3, dim=dim, split=uavs < 1000)
    figure = scenario_figure(scenario)
    figure.set_dpi(200)
    found = colour_at(figure, figure.axes[0], scenario.survivor_positions)
    wanted = rgb(subnet_colours(scenario.subnets))
    # Neighbours of another sub-net may overlap in a 3-D view; labels may in a small swarm.
    least = 0.97 if dim == 2 else 0.6
    assert (np.abs(found - wanted).max(axis=1) <= 60).mean() >= least


def test_links_are_drawn_between_linked_survivors_only() -> None:
    """The middle of a link is tinted, the middle of a gap that is no link is white."""
    scenario = reknit.Scenario(
        [[0.0, 0.0], [100.0, 0.0], [400.0, 0.0], [400.0, 100.0]], [], radio_range_m=120.0
    )
    figure = scenario_figure(scenario)
    middles = np.array([[50.0, 0.0], [400.0, 50.0], [250.0, 0.0]])
    pixels = pixels_of(figure)
    columns, rows = figure.axes[0].transData.transform(middles).T.astype(int)
    near = [
        pixels[len(pixels) - row - 4 : len(pixels) - row + 3, column - 3 : column + 4]
        for column, row in zip(columns, rows, strict=True)
    ]
    assert [int(patch.min()) < 250 for patch in near] == [True, True, False]


@pytest.mark.parametrize("dim", [2, 3])
def test_whoever_flew_has_an_arrow_however_short_the_way(dim: int) -> None:
    """Two UAVs that move by a metre in a kilometre are marked in the colour of paths."""
    points = np.zeros((3, dim))
    points[:, 0] = 0.0, 122.0, 1000.0
    scenario = reknit.Scenario(points, [2], 120.0)
    run = reknit.recover(scenario, "certified")
    figure = recovery_figure(run)
    pixels = pixels_of(figure)
    orange = (np.abs(pixels - rgb([PATH])[0]).max(axis=2) <= 8).sum()
    points[1, 0] = 118.0
    still = reknit.Scenario(points, [2], 120.0)
    none = pixels_of(recovery_figure(reknit.recover(still, "certified")))
    assert orange > 60
    assert (np.abs(none - rgb([PATH])[0]).max(axis=2) <= 8).sum() == 0


@pytest.mark.parametrize(("way_m", "is_told"), [(2.0, True), (200.0, False)])
def test_an_arrow_that_is_longer_than_its_way_is_told(way_m: float, is_told: bool) -> None:
    """Nobody takes the arrow of a short move for the way that was flown."""
    run = reknit.recover(
        reknit.Scenario([[0.0, 0.0], [120.0 + way_m, 0.0]], (), 120.0, allowed_time_s=60.0),
        "certified",
    )
    words = " ".join(text.get_text() for text in recovery_figure(run).texts)
    assert ("short ways are drawn longer" in words) == is_told


def test_arrows_in_space_point_the_way_that_was_flown() -> None:
    """Seen on the page, the head is where the UAV ended and the shaft is on the side it came from;
    turning the axes turns the arrow.
    """
    scenario = reknit.Scenario([[0.0, 0.0, 0.0], [0.0, 0.0, 500.0]], (), 120.0, allowed_time_s=60)
    run = reknit.recover(scenario, "certified")
    axes: Any = recovery_figure(run).axes[1]
    for azimuth in (-60.0, 30.0):
        axes.view_init(elev=20.0, azim=azimuth)
        pixels_of(axes.figure)
        arrows = [art for art in axes.get_children() if isinstance(art, FancyArrowPatch)]
        ends = np.array([vars(arrow)["_posA_posB"] for arrow in arrows])
        x, y, _ = proj3d.proj_transform(*run.flight.positions[-1].T, axes.get_proj())
        assert np.allclose(ends[:, 1], np.stack([x, y], axis=1))
        assert len(ends) == 2
        assert np.sign(ends[:, 1, 1] - ends[:, 0, 1]).tolist() == [1.0, -1.0]


def test_a_small_swarm_is_labelled_by_name_and_a_large_one_is_not() -> None:
    """Up to 30 UAVs each has its id, or its own name; beyond nobody could read them."""
    points = [[0.0, 0.0], [100.0, 0.0], [200.0, 0.0]]
    named = reknit.Scenario(points, [1], 120.0, names=["ada", "bo", "cy"])
    texts = {text.get_text() for text in scenario_figure(named).axes[0].texts}
    assert texts == {"ada", "bo", "cy"}
    assert len(scenario_figure(reknit.generate(30, 10, seed=1)).axes[0].texts) == 30
    assert len(scenario_figure(reknit.generate(31, 10, seed=1)).axes[0].texts) == 0


def test_labels_of_neighbours_do_not_lie_over_each_other() -> None:
    """Two UAVs a marker apart are both told by name, on two sides."""
    points = [[0.0, 0.0], [100.0, 0.0], [101.0, 3.0], [200.0, 0.0]]
    pair = reknit.Scenario(points, [0], 120.0, names=["ada", "uav-12", "uav-08", "cy"])
    figure = scenario_figure(pair)
    FigureCanvasAgg(figure).draw()
    boxes = {text.get_text(): text.get_window_extent() for text in figure.axes[0].texts}
    assert not boxes["uav-12"].overlaps(boxes["uav-08"])


def test_every_frame_of_a_small_swarm_says_who_is_who(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The animation has the ids of the picture: of the survivors, once a frame."""
    told: list[int] = []

    def note(axes: Any, scenario: reknit.Scenario, rows: IntArray, points: FloatArray) -> None:
        told.append(len(rows))

    monkeypatch.setattr("reknit.viz.animation.draw_labels", note)
    run = reknit.recover(reknit.generate(20, 10, seed=3, split=True), "certified")
    save_animation(run.scenario, run.flight, tmp_path / "recovery.gif")
    with Image.open(tmp_path / "recovery.gif") as animation:
        assert told == [10] * getattr(animation, "n_frames", 0)


def test_the_largest_subnet_is_blue() -> None:
    """Whatever its number."""
    assert subnet_colours(np.array([0, 1, 1, 2]))[1:3] == [LARGEST, LARGEST]
    assert len(set(subnet_colours(np.array([0, 1, 1, 2])))) == 3


def test_a_subnet_keeps_its_colour_when_others_merge_or_split() -> None:
    """Merging: the colour of the most. Splitting: the larger part keeps it, the other gets one
    that nobody has.
    """
    before = subnet_ranks(np.array([0, 0, 0, 1, 1, 2]))
    assert followed_ranks(before, np.array([0, 0, 0, 1, 1, 1])).tolist() == [0, 0, 0, 1, 1, 1]
    assert followed_ranks(before, np.array([1, 1, 1, 0, 0, 0])).tolist() == [0, 0, 0, 1, 1, 1]
    assert followed_ranks(before, np.array([0, 0, 1, 2, 2, 3])).tolist() == [0, 0, 3, 1, 1, 2]


def test_the_animation_has_the_pictures_colours_in_one_palette(tmp_path: Path) -> None:
    """The GIF has one colour table for all frames; survivors have exactly the colours of the
    sub-nets that they have in the picture, in the first frame and until the last.
    """
    scenario = reknit.generate(40, 20, seed=1, split=True)
    flight = reknit.recover(scenario, "sidr").flight
    heard: list[float] = []
    path = tmp_path / "film.gif"
    save_animation(scenario, flight, path, lambda part, what: heard.append(part))
    assert heard == sorted(heard)
    assert _local_tables(path.read_bytes()) == 0
    used = {tuple(row) for row in rgb(list(SUBNETS[:-1])).tolist()}  # the last is a grey of texts
    first_wanted = {tuple(row) for row in rgb(subnet_colours(scenario.subnets)).tolist()}
    opened: Any = Image.open(path)
    with opened as film:
        assert film.n_frames == min(FRAMES, len(flight.times_s))
        frames = []
        for number in (0, film.n_frames - 1):
            film.seek(number)
            frames.append(np.asarray(film.convert("RGB")).reshape(-1, 3))
    colours = [{tuple(row) for row in np.unique(frame, axis=0).tolist()} for frame in frames]
    assert colours[0] & used >= first_wanted
    assert colours[1] & used <= first_wanted
    assert len(colours[1] & used) >= 1
    assert (frames[0] != frames[1]).any()


def test_a_sub_net_keeps_its_colour_when_another_grows_larger(tmp_path: Path) -> None:
    """Five UAVs on the left are the largest sub-net and blue. Four in the middle are joined by
    three from the right; though they are seven then, those on the left stay blue in every frame.
    """
    left, middle, right = (
        [(x + 30.0 * k, 0.0) for k in range(count)] for x, count in ((0, 5), (600, 4), (900, 3))
    )
    scenario = reknit.Scenario([*left, *middle, *right], (), 120.0, 10.0, allowed_time_s=15.0)
    velocity = np.array([[0.0, 0.0]] * 9 + [[-10.0, 0.0]] * 3)
    flight = reknit.fly(scenario, lambda *_: velocity, until="allowed")
    assert flight.subnets[[0, -1]].tolist() == [3, 2]
    save_animation(scenario, flight, tmp_path / "film.gif")
    opened: Any = Image.open(tmp_path / "film.gif")
    with opened as film:
        for number in range(film.n_frames):
            film.seek(number)
            is_blue = (np.asarray(film.convert("RGB")) == rgb([LARGEST])[0]).all(axis=2)
            assert is_blue.any()
            assert np.flatnonzero(is_blue.any(axis=0)).max() < 0.45 * is_blue.shape[1]


def test_the_largest_sub_net_of_a_large_swarm_has_its_colour_in_the_animation(
    tmp_path: Path,
) -> None:
    """Dots of about a pixel are not blurred to another colour: of most survivors in the largest
    sub-net there is one of its exact colour, as of the others.
    """
    scenario = reknit.generate(6_000, 3_000, seed=3)
    flight = reknit.fly(scenario, reknit.plan(scenario, "contraction"), until="arrived")
    path = tmp_path / "film.gif"
    save_animation(scenario, flight, path)
    with Image.open(path) as film:
        first = np.asarray(film.convert("RGB"))
    largest = int(np.bincount(scenario.subnets).max())
    assert (first == rgb([LARGEST])[0]).all(axis=2).sum() > 0.5 * largest


def _local_tables(data: bytes) -> int:
    """How many frames of a GIF bring a colour table of their own, read from its blocks."""
    assert data[10] & 0x80  # a global one
    place = 13 + 3 * 2 ** ((data[10] & 7) + 1)
    count = 0
    while data[place] != 0x3B:
        if data[place] == 0x2C:
            flags = data[place + 9]
            count += bool(flags & 0x80)
            place += 10 + (3 * 2 ** ((flags & 7) + 1) if flags & 0x80 else 0) + 1
        else:
            place += 2
        while data[place]:
            place += data[place] + 1
        place += 1
    return count


@pytest.mark.parametrize(("dim", "layout"), [(2, "uniform"), (3, "uniform"), (3, "corridor")])
def test_no_label_of_the_animation_is_cut(tmp_path: Path, dim: int, layout: str) -> None:
    """The margin of every frame is white, whatever the axes are called and numbered."""
    scenario = reknit.generate(40, 20, seed=3, dim=dim, layout=layout, split=True)
    save_animation(scenario, reknit.recover(scenario, "contraction").flight, tmp_path / "a.gif")
    with Image.open(tmp_path / "a.gif") as film:
        for frame in (0, film.n_frames - 1):  # type: ignore[attr-defined]
            film.seek(frame)
            pixels = np.asarray(film.convert("RGB"))
            margin = [pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]]
            assert all((side == 255).all() for side in margin)


def test_large_swarms_get_fewer_frames_and_a_word() -> None:
    """48 frames up to 2,000 UAVs, fewer beyond, none where it would only show a cloud."""
    assert [frame_count(uavs) for uavs in (5, 2_000, 5_000, 20_000)] == [48, 48, 20, 8]
    assert frame_count(MOST_UAVS + 1) == 0
    assert thinning_note(200) == ""
    assert "20 frames" in thinning_note(5_000)
    assert "no animation" in thinning_note(MOST_UAVS + 1)


@pytest.mark.parametrize("dim", [2, 3])
def test_comparisons_are_drawn(tmp_path: Path, dim: int) -> None:
    """One map per planner beside the bars, each with its survivors; a bar as long as the time of
    each.
    """
    scenario = reknit.generate(30, 15, seed=2, split=True, dim=dim)
    runs = [reknit.recover(scenario, name) for name in ("center-fly", "hero", "contraction")]
    figure = comparison_figure(runs, reknit.lower_bound(scenario).bound_s)
    assert len(figure.axes) == 4
    for axes, run in zip(figure.axes[1:], runs, strict=True):
        found = colour_at(figure, axes, run.flight.positions[-1])
        assert (found.min(axis=1) < 180).all()
    times_s = [run.metrics.flown_time_s or scenario.allowed_time_s for run in runs]
    bars = [bar for bar in figure.axes[0].patches if isinstance(bar, Rectangle)]
    assert [bar.get_width() for bar in bars if bar.get_visible()] == times_s
    save_figure(figure, tmp_path / "compare.svg")
    assert "<svg" in (tmp_path / "compare.svg").read_text()


@pytest.mark.parametrize("height_m", [1.0, 30.0, 400.0])
def test_the_legend_stands_clear_of_the_axis(height_m: float) -> None:
    """However low the map is, its legend covers neither the numbers nor the axis's name."""
    scenario = reknit.Scenario(
        np.array([[0.0, 0.0], [100.0, 0.0], [150.0, height_m]]), [1, 2], 120.0
    )
    figure = recovery_figure(reknit.recover(scenario, "certified"))
    FigureCanvasAgg(figure).draw()
    axes = figure.axes[0]
    legend = axes.get_legend()
    assert legend is not None
    assert legend.get_window_extent().y1 <= axes.xaxis.label.get_window_extent().y0


@pytest.mark.parametrize(
    "shape", [(1.0, 1.0, 1.0), (9.0, 1.0, 1.0), (1.0, 9.0, 1.0), (9.0, 9.0, 1.0)]
)
def test_no_word_of_a_map_in_space_is_cut(shape: tuple[float, ...]) -> None:
    """The names and numbers of all axes lie within every kind of picture, be the box a cube, long
    or flat.
    """
    cube = reknit.generate(uavs=60, destroyed=30, seed=2, dim=3)
    scenario = replace(cube, positions=cube.positions * shape)
    runs = [reknit.recover(scenario, name) for name in ("certified", "contraction")]
    figures: list[Figure] = [recovery_figure(runs[0]), scenario_figure(scenario)]
    figures += [comparison_figure(runs[:count], 1.0) for count in (1, 2)]
    for figure in figures:
        FigureCanvasAgg(figure).draw()
        for axes in (axes for axes in figure.axes if axes.name == "3d"):
            for axis in axes._axis_map.values():
                low, high = axis.get_view_interval()
                ticks = (tick for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high)
                for text in (axis.label, *(tick.label1 for tick in ticks)):
                    assert figure.bbox.padded(0.5).contains(*text.get_window_extent().min)
                    assert figure.bbox.padded(0.5).contains(*text.get_window_extent().max)


def test_maps_in_space_stand_clear_of_the_words_below_them() -> None:
    """In a comparison and above the chart, no name of an axis lies over the title of another row,
    and no number over the next one.
    """
    cube = reknit.generate(uavs=60, destroyed=30, seed=2, dim=3)
    scenario = replace(cube, positions=4.0 * cube.positions, radio_range_m=480.0)
    run = reknit.recover(scenario, "certified")
    for figure in (recovery_figure(run), comparison_figure([run] * 5, 1.0)):
        FigureCanvasAgg(figure).draw()
        titles = [
            text.get_window_extent()
            for axes in figure.axes
            for text in axes.get_children()
            if isinstance(text, Text) and text.get_text()
        ]
        for axes in (axes for axes in figure.axes if axes.name == "3d"):
            assert not any(title.overlaps(axes.xaxis.label.get_window_extent()) for title in titles)
            for axis in axes._axis_map.values():
                low, high = axis.get_view_interval()
                ticks = (tick for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high)
                boxes = [tick.label1.get_window_extent() for tick in ticks]
                assert not any(one.overlaps(two) for one, two in pairwise(boxes))


def test_a_comparison_of_nothing_to_fly_says_so() -> None:
    """Instead of bars of no length there is a sentence, and one network is not '1 sub-nets'."""
    scenario = reknit.generate(uavs=20, destroyed=1, seed=1)
    figure = comparison_figure([reknit.recover(scenario, "certified")] * 2, 0.0)
    assert [text.get_text() for text in figure.axes[0].texts] == [
        "Connected from the start: nothing to fly."
    ]
    assert figure.get_suptitle() == "20 UAVs, 1 destroyed, one network"


def test_a_comparison_says_that_arrows_are_longer_than_their_ways() -> None:
    """As the picture of a single run does, and only where there is such an arrow."""
    split = reknit.Scenario(np.array([[0.0, 0.0], [130.0, 0.0], [1000.0, 0.0]]), [2], 120.0)
    for scenario, is_told in ((split, True), (replace(split, radio_range_m=140.0), False)):
        figure = comparison_figure([reknit.recover(scenario, "certified")], 1.0)
        assert (
            any(_says(text, "arrows of short ways are drawn longer") for text in figure.texts)
            is is_told
        )


def test_the_words_above_the_bars_fit_beside_a_single_map() -> None:
    """What the bars of a comparison mean is told in full, also of one planner."""
    run = reknit.recover(reknit.generate(uavs=20, destroyed=10, seed=1), "certified")
    figure = comparison_figure([run], 1.0)
    FigureCanvasAgg(figure).draw()
    words = figure.axes[0].get_title(loc="left")
    title = next(text for text in figure.axes[0].get_children() if _says(text, words))
    assert title.get_window_extent().x1 <= figure.bbox.x1


def _says(artist: Any, words: str) -> bool:
    return isinstance(artist, Text) and artist.get_text() == words
