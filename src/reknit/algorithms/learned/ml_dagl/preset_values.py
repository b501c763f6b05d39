"""What each preset sets a parameter to, for those who read a list of parameters."""

from __future__ import annotations

from reknit.algorithms.learned.ml_dagl.pull.proposing import PullSettings
from reknit.algorithms.learned.ml_dagl.settings import PRESETS, Settings
from reknit.algorithms.parameters import DEFAULT_PRESET
from reknit.base.types import JsonDict

_SAME_NAME = (
    *("epsilon", "gco", "residual", "dropout", "contraction", "trimming", "refine", "fastest"),
    *("awake_only", "untrained_restart"),
)


def preset_texts() -> dict[str, str]:
    """For every parameter that a preset decides, which presets have which value, in words."""
    of_presets: dict[str, JsonDict] = {DEFAULT_PRESET: _default_values()}
    of_presets.update((name, _values(settings)) for name, settings in PRESETS.items())
    names = dict.fromkeys(name for settings in of_presets.values() for name in settings)
    return {name: _text(name, of_presets) for name in names}


def _text(name: str, of_presets: dict[str, JsonDict]) -> str:
    """Such as ``the preset's: 6 (relaxed), 50 (paper, published)``."""
    groups: dict[str, list[str]] = {}
    for preset, values in of_presets.items():
        if name in values:
            groups.setdefault(str(values[name]), []).append(preset)
    told = (f"{value} ({', '.join(presets)})" for value, presets in groups.items())
    return f"the preset's: {', '.join(told)}"


def _default_values() -> JsonDict:
    settings = PullSettings()
    return {
        "trees": settings.trees,
        "attention": settings.shape.attention,
        "links": settings.shape.links,
        "refine": settings.refine,
        "contraction": settings.contraction,
        "trimming": settings.trimming,
    }


def _values(settings: Settings) -> JsonDict:
    branches = settings.branches
    return {
        "disconnection": settings.loss.disconnection,
        "penalty": settings.loss.weight,
        "branches": "rule" if branches is None else f"{branches[0]} to {branches[-1]}",
        "iterations": settings.online.iterations,
        "learning_rate": settings.online.learning_rate,
        "drop_branches": bool(settings.online.keep),
        **{name: getattr(settings, name) for name in _SAME_NAME},
    }
