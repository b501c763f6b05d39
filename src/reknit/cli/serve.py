"""`reknit serve`: the service and the studio page."""

from __future__ import annotations

import os
from typing import Annotated

import typer


def serve(
    host: Annotated[str, typer.Option(help="Address; others than loopback need a token.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int | None, typer.Option(help="0: any free one. Default: 8321.")] = None,
    workers: Annotated[int | None, typer.Option(help="Processes. Default: one per core.")] = None,
    queue: Annotated[int | None, typer.Option(help="Jobs that may wait. Default: 64.")] = None,
    max_uavs: Annotated[int | None, typer.Option(help="Largest swarm. Default: 10000.")] = None,
    max_budget: Annotated[
        float | None, typer.Option(help="Most seconds of computing per plan. Default: 60.")
    ] = None,
    worker_memory: Annotated[
        int | None, typer.Option(help="MiB that a worker may use. Default: 4096.")
    ] = None,
    drain: Annotated[
        float | None, typer.Option(help="Seconds that jobs have when it ends. Default: 15.")
    ] = None,
    browser: Annotated[
        bool, typer.Option("--open/--no-open", help="Open the studio in the browser.")
    ] = False,
) -> None:
    """Plans over HTTP, and the studio: break and mend swarms in the browser.

    Off loopback, clients must send the token that the variable REKNIT_TOKEN holds.
    """
    from reknit.base.errors import MissingExtra

    try:
        from reknit.serve.server import run_server
        from reknit.serve.settings import TOKEN_VARIABLE, ServeSettings
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("reknit"):
            raise
        raise MissingExtra("the service", "serve") from error
    given = {
        "port": port,
        "workers": workers,
        "queue": queue,
        "max_uavs": max_uavs,
        "max_budget_s": max_budget,
        "worker_memory_mib": worker_memory,
        "drain_s": drain,
    }
    fields = {name: value for name, value in given.items() if value is not None}
    settings = ServeSettings(host=host, token=os.environ.get(TOKEN_VARIABLE) or None, **fields)  # type: ignore[arg-type]

    def announce(url: str) -> None:
        typer.echo(f"reknit studio and service on {url} (stop with Ctrl-C)")
        if browser:
            import webbrowser

            webbrowser.open(url)

    run_server(settings, announce)
