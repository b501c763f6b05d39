"""`reknit verify`: a plan against its scenario, believed in nothing."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from reknit.base.errors import InvalidPlan
from reknit.cli.codes import DONE, NOT_DONE
from reknit.cli.options import Json
from reknit.cli.values import print_json


def verify(
    scenario: Annotated[Path, typer.Argument(metavar="SCENARIO", help="Its .json or .csv file.")],
    plan: Annotated[Path, typer.Argument(metavar="PLAN", help="The plan.json for it.")],
    as_json: Json = False,
) -> int:
    """Compute every claim of a plan again from the scenario's raw data, without a solver."""
    from reknit.cli import console
    from reknit.plans.plan import Plan
    from reknit.swarm.files import load_scenario

    swarm = load_scenario(scenario)
    assumed = None
    if scenario.suffix.lower() == ".csv":
        assumed = (
            f"a range of {swarm.radio_range_m:g} m, {swarm.max_speed_mps[0]:g} m/s and no demands, "
            "since a .csv file tells none; scenario.json beside the plan tells all"
        )
    if assumed is not None and not as_json:
        console.out.print(f"assumed: {assumed}", markup=False, soft_wrap=True)
    try:
        claimed = Plan.load(plan)
        account = claimed.verify(swarm)
    except InvalidPlan as error:
        if as_json:
            print_json({"verified": False, "assumed": assumed, "fault": str(error)}, [])
        else:
            console.out.print(f"refused: {error}", markup=False, soft_wrap=True)
        return NOT_DONE
    if as_json:
        print_json({"verified": True, "assumed": assumed, **asdict(account)}, [])
    else:
        for line in account.lines():
            console.out.print(line, markup=False, highlight=False, soft_wrap=True)
        console.out.print("verified: every claim holds")
    return DONE
