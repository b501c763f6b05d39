"""`reknit operate`: one swarm, flown with what each UAV knows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reknit.base.errors import InvalidParameter
from reknit.cli.codes import DONE, NOT_DONE
from reknit.cli.options import Json, ScenarioOptions, parse_strike, takes_a_scenario
from reknit.cli.values import output_path, print_files, print_json, typed

if TYPE_CHECKING:
    from rich.table import Table

    from reknit.base.progress import Progress
    from reknit.knowledge.mission import Mission
    from reknit.knowledge.operation import Operation
    from reknit.swarm.scenario import Scenario


@takes_a_scenario
def operate(
    options: ScenarioOptions,
    policy: Annotated[
        str | None,
        typer.Option(
            help="hedge, believe:PLANNER, rendezvous; with +deadline it keeps a promise.",
            show_default="hedge+deadline",
        ),
    ] = None,
    param: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="A parameter of the policy, as name=value; may be repeated.",
            show_default="their defaults",
        ),
    ] = None,
    channel: Annotated[str, typer.Option(help="radio, global or mixed.")] = "radio",
    loss: Annotated[float, typer.Option(help="Share of messages lost.")] = 0.0,
    burst: Annotated[
        float | None,
        typer.Option(help="Mean length of a spell of losses.", show_default="independent"),
    ] = None,
    noise: Annotated[float, typer.Option(help="Sigma of navigation errors, metres.")] = 0.0,
    period: Annotated[
        float, typer.Option(help="Seconds between radio exchanges; 0: every step.")
    ] = 0.1,
    hop_delay: Annotated[float, typer.Option(help="Seconds for one hop.")] = 0.0,
    report_period: Annotated[
        float, typer.Option(help="Seconds between reports to the station; 0: every step.")
    ] = 0.0,
    latency: Annotated[float, typer.Option(help="Seconds until the broadcast arrives.")] = 0.0,
    missed_reports: Annotated[int, typer.Option(help="Missed reports until off-line.")] = 1,
    uplinks: Annotated[float, typer.Option(help="Share with a link to the station.")] = 0.1,
    strike: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TIME:WHO",
            help="A further loss, as 2.5:10 (seconds, UAVs), 2.5:uavs=3,8 or "
            "2.5:disc=X,Y,RADIUS; may be repeated.",
            show_default="none",
        ),
    ] = None,
    mission: Annotated[
        str,
        typer.Option(
            help="How the formation flies until somebody falls silent: hover, "
            "velocity=VX,VY in m/s, or waypoints=X,Y;X,Y in metres from its start.",
        ),
    ] = "hover",
    cruise: Annotated[
        float | None,
        typer.Option(
            help="Speed along the waypoints, m/s.", show_default="half of the slowest UAV's"
        ),
    ] = None,
    area: Annotated[
        str | None,
        typer.Option(
            help="Corners X,Y;X,Y of the area that the mission may not leave.",
            show_default="anywhere",
        ),
    ] = None,
    until: Annotated[str, typer.Option(help="reconnected, done or end.")] = "reconnected",
    end: Annotated[
        float | None,
        typer.Option(help="Seconds of flight at most.", show_default="until the promise is due"),
    ] = None,
    observer: Annotated[
        str | None,
        typer.Option(
            help="Id or name of the UAV whose belief is shown.", show_default="the first survivor"
        ),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            help="Folder for figures and pictures.",
            show_default="nothing is written",
        ),
    ] = None,
    animate: Annotated[bool, typer.Option(help="Draw the animation too.")] = True,
    as_json: Json = False,
) -> int:
    """Break a swarm and restore it with what each UAV knows; no view from above."""
    from reknit.cli import console
    from reknit.knowledge.channels.registry import build_channel
    from reknit.knowledge.policies.registry import DEFAULT_POLICY, NamedPolicy, policy_parameters
    from reknit.knowledge.simulator import operate as run_operation

    name = DEFAULT_POLICY if policy is None else policy
    folder = output_path(out, _FILES)
    chosen = NamedPolicy.of(name, **typed(policy_parameters(name), param))
    link = build_channel(
        channel,
        loss=loss,
        burst=burst,
        noise_m=noise,
        period_s=period,
        hop_delay_s=hop_delay,
        report_period_s=report_period,
        latency_s=latency,
        missed_reports=missed_reports,
        uplinks=uplinks,
    )
    scenario, warned = options.warned_scenario()
    strikes = [parse_strike(text, scenario) for text in strike or []]
    flown = _mission(scenario, mission, cruise, area)
    files: list[Path] = []
    with console.progress_bar(quiet=as_json) as progress:
        operation = run_operation(
            flown,
            chosen,
            link,
            strikes=strikes,
            seed=options.seed,
            until=until,
            end_s=end,
            observer=_uav(observer, scenario),
            progress=progress,
        )
        if folder is not None:
            files = _save(operation, folder, animate, progress)
    if as_json:
        warned += operation.warnings
        print_json({**operation.as_dict(), "warnings": warned}, files)
    else:
        console.out.print(console.scenario_line(operation.struck))
        console.out.print(_table(operation))
        print_files(files)
    return NOT_DONE if operation.reconnected_at_s is None else DONE


def _uav(text: str | None, scenario: Scenario) -> int | str | None:
    """The name of a UAV where UAVs have names; a row number otherwise."""
    from reknit.swarm.validation import read_whole

    if text is None or scenario.names is not None:
        return text
    try:
        return read_whole(text)
    except ValueError:
        allowed = f"the id of a survivor, a whole number from 0 to {scenario.uavs - 1}"
        raise InvalidParameter("--observer", text, allowed) from None


def _mission(scenario: Scenario, text: str, cruise_mps: float | None, area: str | None) -> Mission:
    """Read ``hover``, ``velocity=3,-1`` or ``waypoints=300,0;300,200``."""
    from reknit.base.errors import UnknownName
    from reknit.knowledge.mission import Mission

    kind, _, values = text.partition("=")
    corners = None if area is None else _vectors("--area", area, "two corners, as 0,0;900,900")
    if corners is not None and len(corners) != 2:
        raise InvalidParameter("--area", area, "two corners, as 0,0;900,900")
    box = None if corners is None else (corners[0], corners[1])
    if kind not in ("hover", "velocity", "waypoints"):
        raise UnknownName("--mission", text, ("hover", "velocity", "waypoints"))
    if cruise_mps is not None and kind != "waypoints":
        raise InvalidParameter("--cruise", cruise_mps, "only together with --mission waypoints=...")
    if kind == "hover":
        if values:
            raise InvalidParameter("--mission", text, "hover, without anything behind it")
        return Mission(scenario, area=box)
    points = _vectors("--mission", values, f"numbers behind {kind}=, as {kind}=3,-1")
    if kind == "waypoints":
        return Mission(scenario, waypoints=points, speed_mps=cruise_mps, area=box)
    if len(points) != 1:
        raise InvalidParameter("--mission", text, "one velocity, as velocity=3,-1")
    return Mission(scenario, velocity_mps=points[0], area=box)


def _vectors(option: str, text: str, allowed: str) -> tuple[tuple[float, ...], ...]:
    from reknit.swarm.validation import read_number

    try:
        return tuple(tuple(map(read_number, vector.split(","))) for vector in text.split(";"))
    except ValueError:
        raise InvalidParameter(option, text, allowed) from None


_FILES = ("scenario.json", "operation.json", "belief.png", "belief.gif", "index.html")


def _save(operation: Operation, folder: Path, animate: bool, progress: Progress) -> list[Path]:
    from reknit.base.files import output_folder, remove_files, write_text
    from reknit.knowledge.picture import belief_figure, save_belief_animation
    from reknit.serve.studio import write_operation_player
    from reknit.swarm.files import save_scenario
    from reknit.viz.picture import save_figure

    output_folder(folder)
    files = [folder / name for name in _FILES[: 4 if animate else 3]]
    remove_files(folder, ["belief.gif"])  # of an earlier run, if this one draws none
    save_scenario(operation.struck, files[0])
    write_text(files[1], json.dumps(operation.as_dict(), indent=1) + "\n")
    progress(0.0, "drawing the picture")
    save_figure(belief_figure(operation), files[2])
    if animate:
        save_belief_animation(operation, files[3], progress)
    files.append(write_operation_player(operation, folder))
    return files


def _table(operation: Operation) -> Table:
    from rich.markup import escape
    from rich.table import Table

    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column(style="bold")
    table.add_column()
    facts = operation.as_dict()
    at, price, promised_s = (
        facts["reconnected_at_s"],
        facts["price_of_ignorance"],
        facts["promised_s"],
    )
    table.add_row("policy", operation.policy)
    table.add_row("channel", operation.channel)
    when = "[red]not reconnected[/red]" if at is None else f"{at:.2f} s"
    table.add_row("reconnected at", when)
    for warning in operation.warnings:
        table.add_row("[red]warning[/red]", f"[red]{escape(warning)}[/red]")
    table.add_row("with full knowledge", f"{facts['optimum_s']:.2f} s")
    table.add_row("price of ignorance", "-" if price is None else f"{price:.2f}")
    promise = "nothing" if promised_s is None else f"{promised_s:.1f} s"
    kept = {True: ", kept", False: ", [red]broken[/red]", None: ""}[facts["kept_promise"]]
    table.add_row("promised", promise + kept)
    contact_s = facts["first_contact_s"]
    table.add_row("first contact", "-" if contact_s is None else f"{contact_s:.2f} s")
    table.add_row("plans made", str(facts["replans"]))
    held = f"{facts['false_alive']:.1f} lost held alive, {facts['false_dead']:.1f} alive held dead"
    table.add_row("errors of belief", f"{held} (at the end, mean over survivors)")
    table.add_row("false done", str(facts["false_done"]))
    table.add_row("sent", f"{facts['bytes_sent'] / 1e6:.2f} MB")
    flown = f"{facts['path_length_m']:.0f} in all, {facts['longest_path_m']:.1f} at most"
    table.add_row("metres flown", flown)
    table.add_row("computing", f"{facts['compute_s']:.2f} s")
    return table
