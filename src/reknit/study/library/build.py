"""How the library was made: the recipes frozen, and `certified` run on each for some time.

Run: python -m reknit.study.library.build [seconds per instance] [family]
It never makes an entry worse, so it can be run again with more time.
"""

from __future__ import annotations

import json
import sys

from reknit.base.files import write_text
from reknit.base.types import JsonDict
from reknit.recovery.planning import plan
from reknit.study.library.instances import BEST, RECIPES, instances, submit
from reknit.swarm.fingerprint import scenario_hash
from reknit.swarm.generate import generate


def recipes() -> list[tuple[str, str, JsonDict]]:
    """(name, family, recipe) of every instance."""
    listed: list[tuple[str, str, JsonDict]] = []
    for number, (uavs, destroyed) in enumerate(
        [(8, 4), (10, 5), (12, 7), (16, 10), (20, 12), (24, 16), (30, 22), (40, 30)]
    ):
        name = f"small-{uavs - destroyed}-{number + 1}"
        listed.append((name, "small", _recipe(uavs, destroyed, 10 + number)))
    for uavs in (20, 50, 100, 200, 500, 1000):
        listed.append((f"paper-{uavs}-half", "paper", _recipe(uavs, uavs // 2, 100 + uavs)))
    for destroyed in (50, 150, 180, 190):
        listed.append((f"paper-200-{destroyed}", "paper", _recipe(200, destroyed, 300 + destroyed)))
    for damage in ("corridor", "degree", "articulation"):
        listed.append((f"strike-{damage}", "strikes", _recipe(200, 60, 21, damage=damage)))
    listed.append(
        ("strike-disc", "strikes", _recipe(200, 60, 21, damage="disc", layout="corridor"))
    )
    listed.append(("clusters-200-half", "strikes", _recipe(200, 100, 22, layout="clusters")))
    for uavs in (50, 200, 1000):
        listed.append((f"space-{uavs}-half", "3-D", _recipe(uavs, uavs // 2, 400, dim=3)))
    for uavs in (2000, 5000):
        listed.append((f"large-{uavs}-half", "large", _recipe(uavs, uavs // 2, 500)))
    for uavs, destroyed in ((500, 450), (500, 475), (1000, 900), (1000, 950), (2000, 1800),
                            (5000, 4500), (5000, 4900)):  # fmt: skip
        recipe = _recipe(uavs, destroyed, 600 + uavs)
        listed.append((f"hard-{uavs}-{destroyed}", "hard", recipe))
    for destroyed in (180, 190):
        recipe = _recipe(200, destroyed, 700, layout="corridor")
        listed.append((f"hard-corridor-{destroyed}", "hard", recipe))
    for uavs, destroyed in ((200, 100), (200, 160), (200, 180), (1000, 500), (1000, 800)):
        recipe = _recipe(uavs, destroyed, 800, connectivity=2)
        listed.append((f"2-connected-{uavs}-{destroyed}", "k-connected", recipe))
    recipe = _recipe(60, 30, 800, connectivity=3)
    listed.append(("3-connected-60-30", "k-connected", recipe))
    for gap_m in (60.0, 80.0, 90.0, 100.0, 119.0):
        recipe = _recipe(200, 100, 900, min_separation_m=gap_m)
        listed.append((f"apart-{gap_m:g}-m", "separation", recipe))
    return listed


def _recipe(uavs: int, destroyed: int, seed: int, **more: object) -> JsonDict:
    return {"uavs": uavs, "destroyed": destroyed, "seed": seed, "split": True, **more}


def main(seconds: float, family: str | None = None) -> None:
    """Freeze the recipes, then improve the best known plans, of one family or of all."""
    rows = [
        {
            "name": name,
            "family": family,
            "recipe": recipe,
            "sha256": scenario_hash(generate(**recipe)),
        }
        for name, family, recipe in recipes()
    ]
    write_text(RECIPES, json.dumps({"version": 1, "instances": rows}, indent=1) + "\n")
    instances.cache_clear()
    for named in instances().values():
        if family not in (None, named.family):
            continue
        best = submit(named.name, plan(named.scenario(), "certified", budget_s=seconds), BEST).plan
        print(
            f"{named.name:22s} {best.recovery_time_s:8.4f} s  bound {best.lower_bound_s:8.4f} s  "
            f"gap {best.gap:7.3%}  {best.status.value}"
        )


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 60.0, *sys.argv[2:3])
