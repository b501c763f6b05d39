"""The paper's equations, written out with dense matrices and loops, to compare with."""

from __future__ import annotations

import numpy as np

from reknit import Scenario
from reknit.base.types import FloatArray


def input_positions(scenario: Scenario) -> FloatArray:
    """X_in: survivors, then destroyed UAVs."""
    order = [*scenario.survivors.tolist(), *scenario.destroyed.tolist()]
    return np.array([scenario.positions[i] for i in order])


def input_adjacency(scenario: Scenario) -> FloatArray:
    """A_in of the swarm before the damage, by the definition of a link."""
    points = input_positions(scenario)
    count = len(points)
    matrix = np.zeros((count, count))
    for i in range(count):
        for j in range(count):
            if i != j and np.linalg.norm(points[i] - points[j]) <= scenario.radio_range_m:
                matrix[i, j] = 1.0
    return matrix


def hop_counts(adjacency: FloatArray) -> FloatArray:
    """H_ij by powers of the adjacency matrix; infinite without a path."""
    count = len(adjacency)
    hops = np.full((count, count), np.inf)
    np.fill_diagonal(hops, 0.0)
    power = np.eye(count)
    for steps in range(1, count):
        power = np.minimum(power @ adjacency, 1.0)
        hops[(power > 0) & np.isinf(hops)] = steps
    return hops


def mdag(scenario: Scenario, k: int) -> FloatArray:
    """A_dag^k = A_in^k o M_da, dense N x N."""
    hops = hop_counts(input_adjacency(scenario))
    dilated = (hops <= k).astype(float)
    survivors = len(scenario.survivors)
    lost = len(scenario.destroyed)
    attention = np.block(
        [
            [np.zeros((survivors, survivors)), np.ones((survivors, lost))],
            [np.ones((lost, survivors)), np.zeros((lost, lost))],
        ]
    )
    return np.asarray(dilated * attention)


def laplacian(adjacency: FloatArray) -> FloatArray:
    """L = D - A."""
    return np.asarray(np.diag(adjacency.sum(axis=1)) - adjacency)


def block_diagonal(matrices: list[FloatArray]) -> FloatArray:
    """diag(A^1, ..., A^K), the KN x KN matrix that the package never forms."""
    size = sum(len(one) for one in matrices)
    whole = np.zeros((size, size))
    first = 0
    for one in matrices:
        whole[first : first + len(one), first : first + len(one)] = one
        first += len(one)
    return whole


def dgcn(
    points: FloatArray,
    kernels: list[FloatArray],
    weights: list[FloatArray],
    biases: list[FloatArray],
    residual: bool = True,
) -> list[FloatArray]:
    """X_gcn^k of every branch, all N rows, in metres: Section IV-C line by line."""
    kernel = block_diagonal(kernels)
    repeated = np.concatenate([points] * len(kernels))
    centre = points.mean(axis=0)
    size = max(np.linalg.norm(centre - one) for one in points)

    def gco(features: FloatArray, q: int) -> FloatArray:
        return np.asarray(kernel @ features @ weights[q] + biases[q])

    normalised = (repeated - centre) / (size + 1.0)
    first = np.maximum(gco(normalised, 0), 0.0)
    features = first
    for block in range((len(weights) - 2) // 2):
        features = np.maximum(gco(features, 2 * block + 1), 0.0)
        features = np.maximum(gco(features, 2 * block + 2), 0.0)
        if residual:
            features = features + first
    last = np.tanh(gco(features, len(weights) - 1))
    upscaled = (size + 1.0) * last + centre
    return [np.asarray(part) for part in np.split(upscaled, len(kernels))]


def subnets_by_spectrum(points: FloatArray, range_m: float) -> int:
    """N_s as the number of zero eigenvalues of the Laplace matrix L_R."""
    count = len(points)
    matrix = np.zeros((count, count))
    for i in range(count):
        for j in range(count):
            if i != j and np.linalg.norm(points[i] - points[j]) <= range_m:
                matrix[i, j] = 1.0
    return int((np.linalg.eigvalsh(laplacian(matrix)) < 1e-9).sum())
