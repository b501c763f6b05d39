"""Further losses of a swarm that may have lost some of its UAVs already."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from reknit.base.errors import InvalidParameter
from reknit.base.types import IntArray
from reknit.base.values import check_known
from reknit.swarm.damage import DAMAGE_MODELS
from reknit.swarm.generate import number_lost
from reknit.swarm.scenario import Scenario
from reknit.swarm.validation import rows


def further_losses(
    scenario: Scenario,
    wanted: float | Sequence[int] | Sequence[str],
    damage: str = "random",
    seed: int = 0,
) -> IntArray:
    """Ids of all that are lost once the survivors are struck again.

    Parameters
    ----------
    scenario
        The swarm as it is.
    wanted
        How many survivors are lost (int), which share of them (float below 1), or their ids
        or names.
    damage
        Which survivors, for a number or a share: a name of `reknit.swarm.damage`.
    seed
        Of what the damage model draws.

    Returns
    -------
    (N_D,) ids, ascending: those of the scenario and the further ones.
    """
    check_known("damage", damage, DAMAGE_MODELS)
    if not isinstance(wanted, (int, float, np.integer, np.floating)):
        return np.union1d(scenario.destroyed, _chosen(scenario, wanted))
    survivors = scenario.survivors
    count = number_lost(wanted, len(survivors))
    rng = np.random.default_rng(seed)
    rows = DAMAGE_MODELS[damage](scenario.survivor_positions, count, scenario.radio_range_m, rng)
    return np.union1d(scenario.destroyed, survivors[rows])


def _chosen(scenario: Scenario, wanted: Sequence[int] | Sequence[str]) -> IntArray:
    ids = rows("destroyed", wanted, scenario.uavs, scenario.names)
    for row in ids.tolist():
        if not scenario.alive[row]:
            raise InvalidParameter(
                "destroyed", scenario.label(row), "survivors; this one is lost already"
            )
    return ids
