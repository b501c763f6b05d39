"""`reknit serve`: the service and the studio page."""

from __future__ import annotations

import os
import threading
from typing import Annotated, Any

import typer

from reknit.serve.settings import TOKEN_VARIABLE, ServeSettings


def serve(
    host: Annotated[str, typer.Option(help="Address; others than loopback need a token.")] = (
        ServeSettings.host
    ),
    port: Annotated[int, typer.Option(help="0: any free one.")] = ServeSettings.port,
    workers: Annotated[
        int | None, typer.Option(help="Processes.", show_default="one per core")
    ] = None,
    queue: Annotated[int, typer.Option(help="Jobs that may wait.")] = ServeSettings.queue,
    max_uavs: Annotated[int, typer.Option(help="Largest swarm.")] = ServeSettings.max_uavs,
    max_budget: Annotated[
        float, typer.Option(help="Most seconds of computing per plan.")
    ] = ServeSettings.max_budget_s,
    worker_memory: Annotated[
        int, typer.Option(help="MiB that a worker may use.")
    ] = ServeSettings.worker_memory_mib,
    drain: Annotated[
        float, typer.Option(help="Seconds that jobs have when it ends.")
    ] = ServeSettings.drain_s,
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
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("reknit"):
            raise
        raise MissingExtra("the service", "serve") from error
    limits: dict[str, Any] = {} if workers is None else {"workers": workers}
    settings = ServeSettings(
        host=host,
        port=port,
        token=os.environ.get(TOKEN_VARIABLE) or None,
        queue=queue,
        max_uavs=max_uavs,
        max_budget_s=max_budget,
        worker_memory_mib=worker_memory,
        drain_s=drain,
        **limits,
    )

    def announce(url: str) -> None:
        typer.echo(f"reknit studio and service on {url} (stop with Ctrl-C)")
        if browser:
            # Some browsers are programs of the terminal, which return when they are left.
            threading.Thread(target=_open, args=(url,), daemon=True).start()

    run_server(settings, announce)


def _open(url: str) -> None:
    import webbrowser

    if not webbrowser.open(url):
        typer.echo("No browser was found here: open the address in one.", err=True)
