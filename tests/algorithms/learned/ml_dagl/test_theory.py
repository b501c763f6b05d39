"""The claims of Section IV-D, as far as they hold."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path
from scipy.spatial.distance import cdist
from torch.utils.flop_counter import FlopCounterMode

import reknit
from reknit.algorithms.learned.ml_dagl.attention import DamageHops
from reknit.algorithms.learned.ml_dagl.dgcn import Dgcn, Shape
from reknit.algorithms.learned.ml_dagl.kernel import Kernel, SparseRows, bipartite_kernel
from reknit.algorithms.learned.ml_dagl.propagation import convolve
from tests.algorithms.learned.ml_dagl import literal


def _connected_case() -> tuple[reknit.Scenario, int]:
    """A scenario and the first k at which its mDAG is connected."""
    scenario = reknit.generate(uavs=40, destroyed=20, seed=2, split=True)
    hops = DamageHops.of(scenario, range(1, 40))
    k = next(k for k in hops.chosen if hops.is_connected(k))
    return scenario, k


@pytest.mark.parametrize("k", [1, 3, 5])
def test_convolution_keeps_the_centroid(k: int) -> None:
    """The B-GCO leaves the mean of all N rows where it is (Appendix A)."""
    scenario = reknit.generate(uavs=60, destroyed=30, seed=4, split=True)
    points = torch.from_numpy(literal.input_positions(scenario)).float()[None] / 500.0
    kernel = bipartite_kernel(DamageHops.of(scenario, (k,)), (k,), "norm", 0.9)
    moved = convolve(points, kernel)
    assert not torch.allclose(moved, points, atol=1e-3)
    torch.testing.assert_close(moved.mean(dim=1), points.mean(dim=1), atol=1e-6, rtol=0)


def test_convolution_contracts_on_a_connected_mdag() -> None:
    """For eps strictly below 1 / ||A||_inf, (I - eps L) shrinks all but the mean (Prop. 1)."""
    scenario, k = _connected_case()
    adjacency = literal.mdag(scenario, k)
    eps = 0.99 / adjacency.sum(axis=1).max()
    values = np.linalg.eigvalsh(np.eye(40) - eps * literal.laplacian(adjacency))
    assert values[-1] == pytest.approx(1.0)
    assert np.abs(values[:-1]).max() < 1.0 - 1e-9


def test_the_bound_on_eps_must_be_strict() -> None:
    """One link and eps = 1 = 1 / ||A||_inf: the two UAVs change places for ever."""
    scenario = reknit.Scenario([[0.0, 0.0], [100.0, 0.0]], destroyed=[1])
    kernel = bipartite_kernel(DamageHops.of(scenario, (1,)), (1,), 1.0)
    points = torch.tensor([[[0.0, 0.0], [100.0, 0.0]]])
    torch.testing.assert_close(convolve(points, kernel), points.flip(1))
    torch.testing.assert_close(convolve(convolve(points, kernel), kernel), points)


def test_convolution_does_not_contract_on_a_split_mdag() -> None:
    """With two parts the eigenvalue 1 is double: the operator is only non-expansive."""
    adjacency = np.zeros((4, 4))
    adjacency[0, 2] = adjacency[2, 0] = adjacency[1, 3] = adjacency[3, 1] = 1.0
    values = np.linalg.eigvalsh(np.eye(4) - 0.99 * literal.laplacian(adjacency))
    np.testing.assert_allclose(np.sort(values)[-2:], 1.0)
    assert np.abs(values).max() <= 1.0 + 1e-12


def test_repeated_convolution_ends_at_the_centre() -> None:
    """On a connected mDAG the limit of (I - eps L)^q X_in is p_c in every row (Prop. 1)."""
    scenario, k = _connected_case()
    kernel = bipartite_kernel(DamageHops.of(scenario, (k,)), (k,), "norm")
    whole = convolve(torch.eye(40)[None], kernel)[0].double()
    points = torch.from_numpy(literal.input_positions(scenario))
    moved = torch.linalg.matrix_power(whole, 20_000) @ points
    centre = np.broadcast_to(scenario.positions.mean(axis=0), (40, 2))
    np.testing.assert_allclose(moved.numpy(), centre, atol=0.05)


@pytest.mark.parametrize("seed", range(5))
def test_planned_time_stays_below_the_upper_bound(seed: int) -> None:
    """No plan takes longer than flying everyone to p_c, even from random, untrained weights."""
    scenario = reknit.generate(uavs=40, destroyed=24, seed=seed, split=True)
    plan = reknit.plan(scenario, "ml-dagl", preset="relaxed", weights="random", iterations=1)
    centre = scenario.positions.mean(axis=0)
    farthest_m = np.linalg.norm(scenario.survivor_positions - centre, axis=1).max()
    assert plan.status.is_connected
    assert plan.recovery_time_s <= farthest_m / 10.0


def test_number_of_parameters_is_the_papers() -> None:
    """1,578,498 numbers of 4 bytes are the 6.02 MiB that the paper reports."""
    shape = Shape()
    counted = sum(one.numel() for one in Dgcn(shape).parameters())
    assert counted == shape.parameters == 1_578_498
    assert round(4 * counted / 2**20, 2) == 6.02
    assert Shape(bias=False).parameters == 1_574_912


@lru_cache
def _links_of_branches(uavs: int, branches: int) -> list[int]:
    """nnz(A_dag^k) of k = 1..K at half damage, counted from hop counts found by scipy."""
    scenario = reknit.generate(uavs, uavs // 2, seed=11)
    near = cdist(scenario.positions, scenario.positions) <= scenario.radio_range_m
    hops = shortest_path(csr_array(near & ~np.eye(uavs, dtype=bool)), unweighted=True)
    across = hops[scenario.survivors][:, scenario.destroyed]
    return [2 * int((across <= k).sum()) for k in range(1, branches + 1)]


def _kernel_products(kernel: Kernel) -> int:
    """Products that one column of features takes in S X: entries of sparse or dense branches."""
    nodes = kernel.own.shape[1]
    return sum(
        len(branch.value) if isinstance(branch, SparseRows) else 2 * branch.numel() + nodes
        for branch in kernel.branches
    )


@pytest.mark.parametrize("uavs", [100, 200])
def test_damage_attention_lists_each_pair_once(uavs: int) -> None:
    """MBDA: as many pairs as the largest branch has links, where the products of its Hadamard
    matrices, nnz(A_in^k) nnz(M_da) summed over k as in Section IV-E, would be O(K^3 N^3).
    """
    links = _links_of_branches(uavs, 4)
    hops = DamageHops.of(reknit.generate(uavs, uavs // 2, seed=11), range(1, 5))
    assert [2 * len(hops.pairs(k)[0]) for k in hops.chosen] == links
    assert 2 * len(hops.hops) == links[-1]
    degree = np.pi * 120.0**2 * 200e-6
    assert links[-1] <= 4**2 * 2 * 0.25 * degree * uavs
    assert sum(links) * 2 * 0.25 * uavs**2 > 1000 * links[-1]


def test_products_with_the_kernel_grow_as_the_links() -> None:
    """Prop. 2: a convolution takes no more than nnz(I - eps L_dag) products per feature, unless a
    branch links most pairs, which is then multiplied as a dense block, at most four times that.
    """
    for uavs in (100, 200, 400):
        links = _links_of_branches(uavs, 5)
        hops = DamageHops.of(reknit.generate(uavs, uavs // 2, seed=11), range(1, 6))
        products = _kernel_products(bipartite_kernel(hops, hops.chosen))
        literal_count = sum(links) + 5 * uavs
        assert literal_count <= products <= 4 * literal_count


def test_one_pass_is_linear_in_the_swarm() -> None:
    """At fixed K the links per UAV do not grow with N but for the border, and the products with
    the weights, counted by torch, are exactly K N sum_q d_in d_out (Prop. 2).
    """
    per_uav = [sum(_links_of_branches(uavs, 3)) / uavs for uavs in (100, 200, 400)]
    assert max(per_uav) <= 1.6 * min(per_uav)
    net = Dgcn(Shape(2, hidden=32, blocks=2))
    for uavs in (40, 80):
        hops = DamageHops.of(reknit.generate(uavs, uavs // 2, seed=11), (1, 2, 3))
        with FlopCounterMode(display=False) as counter, torch.no_grad():
            net(torch.zeros(uavs, 2), bipartite_kernel(hops, (1, 2, 3)))
        weights = sum(one * other for one, other in net.shape.layer_sizes)
        blocks = counter.get_total_flops() - 2 * 3 * uavs * weights
        # What remains are dense branches: two products of N_R x N_D with every layer's features.
        features = sum(one for one, _ in net.shape.layer_sizes[:-1]) + 2
        assert 0 <= blocks <= 3 * 2 * 2 * (uavs // 2) ** 2 * features


def test_links_grow_faster_than_the_dilation() -> None:
    """Links of branch k are between k and k^2 times those of branch 1, as the area within k hops
    is: Appendix B takes k times, Section IV-E k^2, and with that the sum over branches is
    O(K^3 N) until they reach across the swarm.
    """
    links = np.array(_links_of_branches(400, 4))
    k = np.arange(1, 5)
    assert (links[1:] > 1.2 * k[1:] * links[0]).all()
    assert (links <= k**2 * links[0]).all()
