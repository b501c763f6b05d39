"""CR-MGC (Mou et al., 2022): graph convolution on an enlarged graph, from meta-learned weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from torch import Tensor

from reknit.algorithms.learned.common.baseline import Baseline, OnlineNet
from reknit.algorithms.learned.common.layers import (
    ConvolutionStack,
    as_tensor,
    dropout_generator,
)
from reknit.algorithms.learned.common.loss import Disconnection
from reknit.algorithms.learned.common.scaled import ScaledScenario
from reknit.algorithms.learned.cr_mgc.net import (
    SHIPPED,
    enlarged_kernel,
    load_net,
    random_net,
    run_net,
)
from reknit.algorithms.parameters import Iterations, Penalty, Share
from reknit.base.context import Context

PRETRAINED, RANDOM = "pretrained", "random"


@dataclass(frozen=True)
class CrMgc(Baseline):
    """Convolution over a graph enlarged until it is connected, trained online.

        X^(l+1) = ReLU(S X^l W^l + b^l),   S = I - (0.99 / ||A||_inf) L,
        A: survivors within d = d_min + enlargement (d_max - d_min)

    with d_min the longest EMST edge of the survivors and d_max their largest distance; tanh
    output scaled to the mission area.

    Loss: ``lambda (N_s - 1) + max displacement`` in metres. The count has no gradient, and the
    meta-learned first output is now and then not connected, from where training by the count
    never connects it. So the gradient is that of the total excess over the EMST, the same as
    in meta-learning; whether an output counts as a solution is decided by N_s alone.
    ``disconnection="count", penalty=1000`` trains by the count.

    The other parameters are those of `Baseline`; layers and hidden features are of random
    weights or of the file. Memory grows with the square of the number of survivors, because
    the enlarged graph links a fixed share of all pairs.

    Parameters
    ----------
    weights
        "pretrained": the meta-learned weights (see `pretrain`), one set for any number of
        survivors; "random" (drawn from the seed); or a weight file.
    enlargement
        Share of the way from d_min to d_max.
    """

    name: ClassVar[str] = "cr-mgc"
    PRESETS: ClassVar[dict[str, dict[str, Any]]] = {
        "paper": {
            **Baseline.PRESETS["paper"],
            "inputs": "normalised",
            "disconnection": "count",
            "penalty": 1000.0,
            "weights": RANDOM,
        }
    }

    iterations: Iterations = 200
    disconnection: Disconnection = "excess"
    penalty: Penalty = 2.0
    weights: str | Path = PRETRAINED
    enlargement: Share = 0.25

    def online_net(self, scaled: ScaledScenario, context: Context) -> OnlineNet:
        """The neural net on the enlarged graph."""
        positions = scaled.scenario.survivor_positions
        kernel = as_tensor(enlarged_kernel(positions, self.enlargement))
        net = self.net(context.seed)
        dropout = dropout_generator(self.dropout, context.seed)

        def forward(active: Sequence[int]) -> Tensor:
            return run_net(net, scaled.start, kernel, dropout)[None]

        details = {"weights": str(self.weights)}
        return OnlineNet(forward, list(net.parameters()), details=details)

    def net(self, seed: int) -> ConvolutionStack:
        """The neural net with the weights to begin from."""
        if self.weights == RANDOM:
            return random_net(seed, self.layers, self.hidden, self.dropout)
        [path] = self.weight_files()
        return load_net(path, self.layers, self.hidden, self.dropout)

    def weight_files(self, uavs: int | None = None, dim: int | None = None) -> Sequence[Path]:
        """The file of the weights to begin from, the same for every swarm; none for random ones."""
        if self.weights == RANDOM:
            return ()
        return (SHIPPED if self.weights == PRETRAINED else Path(self.weights),)
