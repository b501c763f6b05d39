"""The state of a training run on disk, in one file that is replaced whole."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn

from reknit.algorithms.learned.common.weights import check_tensors
from reknit.base.errors import InvalidWeights
from reknit.base.files import replacing
from reknit.base.types import JsonDict

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

FILE = "checkpoint.safetensors"
_MOMENTS = ("exp_avg", "exp_avg_sq")
_VERSIONS = ("torch", "numpy", "scipy", "safetensors")
"""Of what may change the weights that a recipe gives."""


@dataclass(eq=False)
class Checkpoint:
    """Weights, Adam's moments, and what was seen so far.

    Parameters
    ----------
    recipe
        What decides the weights, as plain JSON values.
    losses
        One per step.
    validations
        Points of the validation curve, if there is one.
    """

    recipe: JsonDict
    weights: dict[str, Tensor]
    moments: dict[str, Tensor] = field(default_factory=dict)
    step: int = 0
    trained_s: float = 0.0
    losses: list[float] = field(default_factory=list)
    validations: list[JsonDict] = field(default_factory=list)

    def record_validation(self, figures: JsonDict) -> None:
        """Add a point to the validation curve."""
        self.validations = [record for record in self.validations if record["step"] != self.step]
        self.validations.append({"step": self.step, **figures})

    def capture(self, optimizer: torch.optim.Optimizer, net: nn.Module) -> None:
        """Take over the state of a run."""
        for name, parameter in net.named_parameters():
            self.weights[name] = parameter.detach().clone()
            for moment in _MOMENTS:
                if moment in optimizer.state.get(parameter, {}):
                    self.moments[f"{moment}/{name}"] = optimizer.state[parameter][moment].clone()

    def restore(self, optimizer: torch.optim.Optimizer, net: nn.Module) -> None:
        """Give the net and the optimiser their state back."""
        net.load_state_dict(self.weights)
        if not self.moments:
            return
        for name, parameter in net.named_parameters():
            optimizer.state[parameter] = {
                "step": torch.tensor(float(self.step)),
                **{moment: self.moments[f"{moment}/{name}"].clone() for moment in _MOMENTS},
            }

    def save(self, folder: Path) -> None:
        """Write the whole state, or nothing."""
        facts = {
            "config": self.recipe,
            "step": self.step,
            "trained_s": self.trained_s,
            "losses": self.losses,
            "validations": self.validations,
        }
        tensors = {**self.weights, **self.moments}
        data = save({k: v.contiguous() for k, v in tensors.items()}, {"run": json.dumps(facts)})
        with replacing(folder / FILE) as temporary:
            temporary.write_bytes(data)

    def facts(self, points: int = 100) -> JsonDict:
        """What a manifest tells of the run, with a loss curve of so many points."""
        return {
            "recipe": self.recipe,
            "steps_trained": self.step,
            "trained_s": round(self.trained_s, 1),
            "threads": torch.get_num_threads(),
            "versions": {name: version(name) for name in _VERSIONS},
            "loss_curve": thinned(self.losses, points),
        }

    @staticmethod
    def load(folder: Path) -> Checkpoint:
        """The run in a folder."""
        path = folder / FILE
        try:
            with safe_open(path, framework="pt") as file:
                facts = json.loads(file.metadata()["run"])
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            return Checkpoint(
                facts["config"],
                {name: tensor for name, tensor in tensors.items() if "/" not in name},
                {name: tensor for name, tensor in tensors.items() if "/" in name},
                facts["step"],
                facts["trained_s"],
                facts["losses"],
                facts["validations"],
            )
        except (OSError, SafetensorError, KeyError, TypeError, ValueError) as error:
            raise InvalidWeights(f"{path}: not a checkpoint ({error})") from error

    @staticmethod
    def resume(
        folder: Path, recipe: JsonDict, shapes: Mapping[str, tuple[int, ...]]
    ) -> Checkpoint | None:
        """The run in a folder, if there is one; it must have the same recipe."""
        path = folder / FILE
        if not path.exists():
            return None
        run = Checkpoint.load(folder)
        if run.recipe != recipe:
            raise InvalidWeights(f"{path}: made by another recipe; use another folder")
        check_tensors(path, run.weights, shapes)
        return run


def plain(recipe: DataclassInstance) -> JsonDict:
    """A recipe as plain JSON values."""
    values: JsonDict = json.loads(json.dumps(asdict(recipe)))
    return values


def thinned(losses: Sequence[float], points: int = 100) -> list[list[float]]:
    """A loss curve as (step, mean loss since the last point)."""
    parts = np.array_split(np.asarray(losses), min(points, max(1, len(losses))))
    ends = np.cumsum([len(part) for part in parts])
    return [
        [int(end), round(float(part.mean()), 4)]
        for end, part in zip(ends, parts, strict=True)
        if len(part)
    ]
