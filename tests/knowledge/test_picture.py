"""What pictures of operations and of the environment show besides axes and words."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.colors import to_rgb

import reknit
from reknit.knowledge import reknit_v0
from reknit.knowledge.picture import belief_figure
from reknit.viz.style import LARGEST, LOST
from tests.drawing import drawn_pixels, marked, places


def test_truth_and_belief_are_drawn_and_both_over_time() -> None:
    """Everybody is where it is, and where it is believed to be; no axes are empty, and the curves
    are those of the operation.
    """
    operation = reknit.operate(reknit.generate(30, 15, seed=1, split=True), seed=1)
    figure = belief_figure(operation)
    *maps, over_time = figure.axes
    curves = [np.asarray(line.get_ydata()).tolist() for line in over_time.get_lines()[:3]]
    of_all = (operation.subnets, operation.false_alive, operation.false_dead)
    assert curves == [list(values) for values in of_all]
    assert len(maps) == 4
    first = int(np.searchsorted(operation.times_s, operation.struck_at_s))
    for number, frame in enumerate((first, -1)):
        assert marked(maps[2 * number]) >= places(operation.positions[frame])
        assert marked(maps[2 * number + 1]) >= places(operation.observation.positions[frame])
    assert min(drawn_pixels(figure)) > 200


@pytest.mark.filterwarnings("ignore::UserWarning:pettingzoo")
def test_an_image_of_the_environment_shows_everybody() -> None:
    """Links and UAVs, in the colours of their sub-nets; the lost are there, too."""
    environment = reknit_v0.parallel_env(uavs=20, destroyed=10, render_mode="rgb_array")
    environment.reset(seed=1)
    actions = {agent: np.zeros(2, dtype=np.float32) for agent in environment.agents}
    environment.step(actions)
    image = environment.render()
    for colour, least in ((LARGEST, 100), (LOST, 20)):
        wanted = np.round(255 * np.array(to_rgb(colour)))
        assert (image == wanted).all(axis=2).sum() > least, colour
