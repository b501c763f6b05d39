"""What the help says is what there is."""

from __future__ import annotations

import re
from collections.abc import Collection

import pytest

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
