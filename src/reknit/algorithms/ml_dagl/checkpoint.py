"""The state of a pre-training run on disk, in one file that is replaced whole."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from reknit.algorithms.learning.weights import check_tensors
from reknit.algorithms.ml_dagl.model import tensor_shapes
from reknit.algorithms.ml_dagl.network import Dgcn, Shape
from reknit.algorithms.ml_dagl.recipe import PretrainConfig
from reknit.errors import InvalidWeights
from reknit.files import replacing
from reknit.types import JsonDict

FILE = "checkpoint.safetensors"
_MOMENTS = ("exp_avg", "exp_avg_sq")


@dataclass(eq=False)
class Checkpoint:
    """Weights, the optimiser's moments, and what was seen so far."""

    recipe: JsonDict
    weights: dict[str, Tensor]
    moments: dict[str, Tensor] = field(default_factory=dict)
    step: int = 0
    trained_s: float = 0.0
    losses: list[float] = field(default_factory=list)
    validations: list[JsonDict] = field(default_factory=list)

    def record_validation(self, figures: JsonDict) -> None:
        """Add a point to the validation curve."""
        self.validations = [one for one in self.validations if one["step"] != self.step]
        self.validations.append({"step": self.step, **figures})

    def capture(self, optimizer: torch.optim.Optimizer, network: Dgcn) -> None:
        """Take over the state of a run."""
        for name, one in network.named_parameters():
            self.weights[name] = one.detach().clone()
            for moment in _MOMENTS:
                if moment in optimizer.state.get(one, {}):
                    self.moments[f"{moment}/{name}"] = optimizer.state[one][moment].clone()

    def restore(self, optimizer: torch.optim.Optimizer, network: Dgcn) -> None:
        """Give the optimiser its state back."""
        if not self.moments:
            return
        for name, one in network.named_parameters():
            optimizer.state[one] = {
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

    @staticmethod
    def load(folder: Path) -> Checkpoint:
        """The run in a folder."""
        path = folder / FILE
        try:
            with safe_open(path, framework="pt") as file:
                facts = json.loads(file.metadata()["run"])
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            run = Checkpoint(
                facts["config"],
                {name: one for name, one in tensors.items() if "/" not in name},
                {name: one for name, one in tensors.items() if "/" in name},
                facts["step"],
                facts["trained_s"],
                facts["losses"],
                facts["validations"],
            )
            check_tensors(path, run.weights, tensor_shapes(run.shape))
        except (OSError, SafetensorError, KeyError, TypeError, json.JSONDecodeError) as error:
            raise InvalidWeights(f"{path}: not a checkpoint ({error})") from error
        return run

    @staticmethod
    def resume(folder: Path, config: PretrainConfig) -> Checkpoint | None:
        """The run in a folder, if there is one; it must have the same recipe."""
        if not (folder / FILE).exists():
            return None
        run = Checkpoint.load(folder)
        if run.recipe != fingerprint(config):
            raise InvalidWeights(f"{folder / FILE}: made by another recipe; use another folder")
        return run

    @property
    def shape(self) -> Shape:
        """The shape of the network in training."""
        return Shape(**self.recipe["shape"])


def fingerprint(config: PretrainConfig) -> JsonDict:
    """The recipe as plain JSON values."""
    plain: JsonDict = json.loads(json.dumps(asdict(config)))
    return plain
