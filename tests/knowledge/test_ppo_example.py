"""The example that trains a shared policy with PPO."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("pettingzoo")
pytest.importorskip("torch")

import torch

from reknit.knowledge import reknit_v0

EXAMPLE = Path(__file__).parents[2] / "examples" / "ppo.py"


@pytest.fixture(scope="module")
def ppo() -> Any:
    spec = importlib.util.spec_from_file_location("ppo_example", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_round_changes_the_policy_and_is_kept(ppo: Any, tmp_path: Path) -> None:
    """Untrained it hovers; a round of PPO moves it; the file gives the same policy back."""
    torch.manual_seed(0)
    environment = reknit_v0.vector_env(uavs=ppo.UAVS, nearest=ppo.NEAREST, max_steps=4)
    seen, _ = environment.reset(seed=1)
    rows = torch.as_tensor(seen)
    size = seen.shape[1]
    policy, again = ppo.Policy(size), ppo.Policy(size)
    assert not policy(rows)[0].mean.any()
    optimiser = torch.optim.Adam(policy.parameters(), lr=1e-3)
    batch, told = ppo.collect(environment, policy, 12)
    assert "episodes whole" in told
    ppo.improve(policy, optimiser, batch)
    assert policy(rows)[0].mean.any()
    ppo.save(tmp_path / "weights", policy, optimiser, 7)
    assert ppo.load(tmp_path / "weights", again, torch.optim.Adam(again.parameters())) == 7
    assert torch.equal(again(rows)[0].mean, policy(rows)[0].mean)


def test_the_rule_flies_to_the_nearest_unknown(ppo: Any) -> None:
    """A unit vector to the first unknown UAV of the observation, else to the rendezvous."""
    size = 3 + ppo.DIM + 3 * ppo.NEAREST * (ppo.DIM + 1)
    seen = np.zeros((2, size), dtype=np.float32)
    seen[:, 3:5] = (0.0, -2.0)
    first = 3 + ppo.DIM + ppo.NEAREST * (ppo.DIM + 1)
    seen[0, first : first + 3] = (3.0, 4.0, 1.0)
    mean = ppo.Nearest()(torch.as_tensor(seen))[0].mean.numpy()
    assert mean == pytest.approx(np.array([[0.6, 0.8], [0.0, -1.0]]), abs=1e-6)
