"""The socket of the service."""

from __future__ import annotations

import socket

from reknit.serve.server import listen
from reknit.serve.settings import ServeSettings


def test_answers_do_not_wait_for_acknowledgements() -> None:
    """An accepted connection sends small pieces at once: an answer is a head and a body."""
    with (
        listen(ServeSettings(port=0)) as listener,
        socket.create_connection(listener.getsockname()[:2]),
    ):
        connection, _ = listener.accept()
        with connection:
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0
