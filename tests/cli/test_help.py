"""What the help says is what there is."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection
from typing import Any, get_args, get_type_hints

import pytest
from typer.models import OptionInfo

import reknit
from reknit.cli.operate import operate
from reknit.cli.options import ScenarioOptions
from reknit.cli.work import pretrain
from reknit.knowledge.channels.registry import CHANNELS, build_channel
from reknit.knowledge.policies.registry import policies
from reknit.recovery.training import TRAINABLE
from reknit.swarm.damage import DAMAGE_MODELS
from reknit.swarm.layouts import LAYOUTS
from tests.cli.processes import reknit_process


@pytest.mark.parametrize(("option", "names"), [("--layout", LAYOUTS), ("--damage", DAMAGE_MODELS)])
def test_the_help_names_every_layout_and_damage(option: str, names: Collection[str]) -> None:
    """The help of an option lists its values, all of them and no other."""
    done = reknit_process("recover", "--help", columns=200)
    assert done.returncode == 0, done.stderr
    line = re.search(rf"{option}\s+<str>\s+(.+?)\.\s", done.stdout)
    assert line is not None
    assert set(re.split(r", | or ", line[1])) == set(names)


def options_of(described: Any) -> dict[str, OptionInfo]:
    """The options that a command or a class declares."""
    hints = get_type_hints(described, include_extras=True)
    return {
        name: extra
        for name, hint in hints.items()
        for extra in get_args(hint)
        if isinstance(extra, OptionInfo)
    }


@pytest.mark.parametrize(
    ("command", "option", "names"),
    [
        (operate, "channel", set(CHANNELS)),
        (operate, "policy", set(policies())),
        (pretrain, "planner", set(TRAINABLE)),
    ],
)
def test_the_help_names_every_choice(
    command: Callable[..., int], option: str, names: set[str]
) -> None:
    """The help of an option names whatever may be given."""
    text = options_of(command)[option].help
    assert text is not None
    assert [name for name in names if name.removeprefix("POLICY") not in text] == []


@pytest.mark.parametrize(
    ("option", "parameter"),
    {
        "uavs": "uavs",
        "destroy": "destroyed",
        "layout": "layout",
        "damage": "damage",
        "dim": "dim",
        "density": "density_per_km2",
        "speed": "max_speed_mps",
    }.items(),
)
def test_the_help_tells_the_defaults_of_swarms(option: str, parameter: str) -> None:
    """What is said to be the default is the one of `generate`."""
    default = inspect.signature(reknit.generate).parameters[parameter].default
    told = str(options_of(ScenarioOptions)[option].show_default).split(";")[0]
    assert told == (f"{default:g}" if isinstance(default, float) else str(default))


def test_the_help_tells_the_default_range() -> None:
    """The range that the help names is that of a scenario that names none."""
    told_m = options_of(ScenarioOptions)["range_m"].show_default
    assert float(str(told_m)) == reknit.generate(4).radio_range_m


def test_the_options_of_a_channel_have_its_defaults() -> None:
    """`operate` and the channels agree on what is not given."""
    option_of = {"noise_m": "noise", "period_s": "period", "hop_delay_s": "hop_delay"}
    option_of |= {"report_period_s": "report_period", "latency_s": "latency"}
    options = inspect.signature(operate).parameters
    for name, setting in inspect.signature(build_channel).parameters.items():
        if name != "name":
            assert options[option_of.get(name, name)].default == setting.default
