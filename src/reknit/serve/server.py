"""Runs the application under uvicorn until it is told to stop."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import Callable
from types import FrameType

import uvicorn

from reknit.base.errors import InvalidParameter
from reknit.serve.app import create_app
from reknit.serve.service import Service
from reknit.serve.settings import ServeSettings


class _Server(uvicorn.Server):
    """Begins to drain at the signal itself, so that waiting clients get their answers."""

    def __init__(
        self, config: uvicorn.Config, service: Service, on_start: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self._service = service
        self._on_start = on_start
        self._own_loop: asyncio.AbstractEventLoop | None = None
        self._end: asyncio.Task[None] | None = None
        self._is_told = False

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self._own_loop = asyncio.get_running_loop()
        await super().startup(sockets)
        if self.started:
            self._on_start()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Drain and end by exit code 0; a second SIGINT ends at once.

        uvicorn's own handler would raise the signal again after the shutdown, so that a service
        which ended as it was told to would look as if it had been killed. It would also close
        the door at once, and a client whose job ends meanwhile could not fetch the result.
        """
        if self._is_told or self._own_loop is None:
            self.force_exit = self._is_told and sig == signal.SIGINT
            self.should_exit = self.should_exit or self.force_exit or self._own_loop is None
            return
        self._is_told = True
        self._own_loop.call_soon_threadsafe(self._begin_end)

    def _begin_end(self) -> None:
        self._end = asyncio.create_task(self._drain())

    async def _drain(self) -> None:
        try:
            await self._service.drain()
        finally:
            self.should_exit = True


def listen(settings: ServeSettings) -> socket.socket:
    """The socket at which the service is asked for."""
    try:
        family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
        listener = socket.create_server((settings.host, settings.port), family=family, backlog=512)
    except OSError as error:
        where = f"{settings.host}:{settings.port}"
        reason = os.strerror(error.errno) if error.errno else str(error)
        allowed = f"an address of this machine and a free port, as 0 finds one ({reason})"
        raise InvalidParameter("host, port", where, allowed) from None
    # Connections inherit it. asyncio sets it only where a socket names its protocol, which this
    # one does not; without it a body waits 40 ms for the other side to acknowledge its headers.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def run_server(settings: ServeSettings, on_start: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM; accepted jobs are then finished or handed back.

    Parameters
    ----------
    settings
        Address and limits.
    on_start
        Called with the service's URL as soon as it answers.
    """
    listener = listen(settings)
    app = create_app(settings)
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=int(settings.drain_s) + 2,
    )
    name = f"[{settings.host}]" if ":" in settings.host else settings.host
    url = f"http://{name}:{listener.getsockname()[1]}/"
    with listener:
        _Server(config, app.state.service, lambda: on_start(url)).run(sockets=[listener])
