"""CR-MGC: its enlarged graph by hand, its weights, and how it trains."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import reknit
from reknit.algorithms.learned.common.layers import as_tensor
from reknit.algorithms.learned.cr_mgc.net import (
    SHIPPED,
    enlarged_distance_m,
    enlarged_kernel,
    load_net,
    random_net,
    run_net,
)
from reknit.algorithms.learned.cr_mgc.planner import CrMgc
from reknit.base.errors import InvalidParameter, InvalidWeights

ROW = np.array([[0.0, 0.0], [100.0, 0.0], [300.0, 0.0], [600.0, 0.0]])
SMALL: dict[str, Any] = {"weights": "random", "layers": 3, "hidden": 16}


def test_the_enlarged_distance_by_hand() -> None:
    """In the row 0, 100, 300, 600 the longest EMST edge is 300 and the largest distance 600, so
    d = 300 + 0.25 * 300 = 375.
    """
    assert enlarged_distance_m(ROW, 0.25) == 375.0
    assert enlarged_distance_m(ROW, 0.0) == 300.0
    assert enlarged_distance_m(ROW, 1.0) == 600.0
    assert enlarged_distance_m(ROW[:1], 0.25) == 0.0


def test_the_kernel_by_hand() -> None:
    """Within 375 m all pairs are linked but 0-3 and 1-3: degrees 2, 2, 3, 1 and eps = 0.33."""
    by_hand = [
        [0.34, 0.33, 0.33, 0.00],
        [0.33, 0.34, 0.33, 0.00],
        [0.33, 0.33, 0.01, 0.33],
        [0.00, 0.00, 0.33, 0.67],
    ]
    np.testing.assert_allclose(enlarged_kernel(ROW, 0.25).toarray(), by_hand, atol=1e-12)


@pytest.mark.parametrize("dim", [2, 3])
def test_the_largest_distance_is_one_of_the_hulls(dim: int) -> None:
    """With share 1 the distance is the largest of all pairs."""
    points = np.random.default_rng(0).random((40, dim)) * 500.0
    pairs = np.linalg.norm(points[:, None] - points[None], axis=2)
    assert enlarged_distance_m(points, 1.0) == pytest.approx(pairs.max())


def test_flat_swarms_are_swarms_in_space() -> None:
    """A flat swarm gets what the same swarm at height zero gets in its first two coordinates."""
    net = random_net(seed=0, layers=3, hidden=16)
    flat = torch.from_numpy((ROW / 600.0).astype(np.float32))
    kernel = as_tensor(enlarged_kernel(ROW, 0.25))
    raised = torch.cat([flat, torch.zeros(4, 1)], dim=1)
    output = run_net(net, raised, kernel)
    assert torch.equal(run_net(net, flat, kernel), output[:, :2])


def test_the_shipped_weights_are_whole() -> None:
    """The hash in the manifest is the file's, the file is small, and the network loads."""
    manifest = json.loads(SHIPPED.with_suffix(".json").read_text())
    assert hashlib.sha256(SHIPPED.read_bytes()).hexdigest() == manifest["sha256"]
    assert manifest["planner"] == "cr-mgc"
    assert SHIPPED.stat().st_size < 4 * 2**20
    net = load_net(SHIPPED)
    assert sum(one.numel() for one in net.parameters()) == manifest["parameters"]


@pytest.mark.parametrize("survivors", [6, 25, 60])
def test_one_set_of_weights_serves_any_number(survivors: int) -> None:
    """From the meta-learned weights swarms of any size are nearer to connected than they were,
    before a single iteration.
    """
    scenario = reknit.generate(2 * survivors, survivors, seed=3, split=True)
    run = reknit.recover(scenario, "cr-mgc", iterations=0)
    assert run.plan is not None
    assert run.metrics.subnets_after < scenario.subnet_count


def test_the_work_is_limited_and_repeatable() -> None:
    """Iterations and budget are kept to; the same seed gives the same targets to the bit."""
    scenario = reknit.generate(20, 10, seed=3, split=True)
    first, again = (reknit.plan(scenario, "cr-mgc", iterations=3, **SMALL) for _ in range(2))
    assert first.details["iterations"] == 3
    assert first.targets.tobytes() == again.targets.tobytes()
    other = reknit.plan(scenario, "cr-mgc", iterations=3, seed=1, **SMALL)
    assert first.targets.tobytes() != other.targets.tobytes()
    assert reknit.plan(scenario, "cr-mgc", budget_s=0.0, **SMALL).details["iterations"] == 0


def test_foreign_weights_are_refused(tmp_path: Path) -> None:
    """A file that is missing or made for another network is a typed error."""
    scenario = reknit.generate(20, 10, seed=3, split=True)
    with pytest.raises(InvalidWeights):
        reknit.plan(scenario, "cr-mgc", weights=tmp_path / "none.safetensors")
    with pytest.raises(InvalidWeights, match="shape"):
        reknit.plan(scenario, "cr-mgc", hidden=16)


@pytest.mark.parametrize(("name", "value"), [("enlargement", 1.5), ("weights", 3), ("layers", 0)])
def test_parameters_are_checked(name: str, value: object) -> None:
    """Values that make no sense are refused on creation."""
    with pytest.raises(InvalidParameter, match=name):
        CrMgc(**{name: value})  # type: ignore[arg-type]
