"""The state of a training run on disk, in one file that is replaced whole."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn

from reknit.algorithms.learning.weights import check_tensors
from reknit.errors import InvalidWeights
from reknit.files import replacing
from reknit.types import JsonDict

FILE = "checkpoint.safetensors"
_MOMENTS = ("exp_avg", "exp_avg_sq")


@dataclass(eq=False)
class TrainingState:
    """Weights, Adam's moments, and what was seen so far.

    history     one figure per step, such as the loss.
    notes       JSON-ready facts gathered on the way, such as a validation curve.
    """

    weights: dict[str, Tensor]
    moments: dict[str, Tensor] = field(default_factory=dict)
    step: int = 0
    trained_s: float = 0.0
    history: list[float] = field(default_factory=list)
    notes: list[JsonDict] = field(default_factory=list)

    def capture(self, optimizer: torch.optim.Optimizer, network: nn.Module) -> None:
        """Take over the state of a run."""
        for name, one in network.named_parameters():
            self.weights[name] = one.detach().clone()
            for moment in _MOMENTS:
                if moment in optimizer.state.get(one, {}):
                    self.moments[f"{moment}/{name}"] = optimizer.state[one][moment].clone()

    def restore(self, optimizer: torch.optim.Optimizer, network: nn.Module) -> None:
        """Give the network and the optimiser their state back."""
        network.load_state_dict(self.weights)
        if not self.moments:
            return
        for name, one in network.named_parameters():
            optimizer.state[one] = {
                "step": torch.tensor(float(self.step)),
                **{moment: self.moments[f"{moment}/{name}"].clone() for moment in _MOMENTS},
            }

    def save(self, folder: Path, recipe: JsonDict) -> None:
        """Write the whole state, or nothing."""
        facts = {
            "recipe": recipe,
            "step": self.step,
            "trained_s": self.trained_s,
            "history": self.history,
            "notes": self.notes,
        }
        tensors = {**self.weights, **self.moments}
        data = save({k: v.contiguous() for k, v in tensors.items()}, {"run": json.dumps(facts)})
        with replacing(folder / FILE) as temporary:
            temporary.write_bytes(data)

    @staticmethod
    def resume(
        folder: Path, recipe: JsonDict, shapes: Mapping[str, tuple[int, ...]]
    ) -> TrainingState | None:
        """The run in a folder, if there is one; it must have the same recipe."""
        path = folder / FILE
        if not path.exists():
            return None
        try:
            with safe_open(path, framework="pt") as file:
                facts = json.loads(file.metadata()["run"])
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        except (OSError, SafetensorError, KeyError, TypeError, json.JSONDecodeError) as error:
            raise InvalidWeights(f"{path}: not a checkpoint ({error})") from error
        if facts["recipe"] != recipe:
            raise InvalidWeights(f"{path}: made by another recipe; use another folder")
        weights = {name: one for name, one in tensors.items() if "/" not in name}
        check_tensors(path, weights, shapes)
        moments = {name: one for name, one in tensors.items() if "/" in name}
        return TrainingState(
            weights, moments, facts["step"], facts["trained_s"], facts["history"], facts["notes"]
        )
