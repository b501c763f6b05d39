"""The layer around the application: who may ask, security headers, and the count of requests."""

from __future__ import annotations

import hmac
import time
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from reknit.serve.metrics import RequestMetrics
from reknit.serve.problems import Problem, problem, problem_response
from reknit.serve.settings import ServeSettings

CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "media-src blob:; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": CONTENT_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
_LOCAL_NAMES = ("localhost", "127.0.0.1", "::1")
OPEN_PATHS = ("/v1/health",)
"""What is answered without a token."""


class Guard:
    """Checks every request before the application sees it.

    Written for ASGI itself, so that streams are not buffered and a client's hang-up is noticed.
    """

    def __init__(self, app: ASGIApp, settings: ServeSettings, metrics: RequestMetrics) -> None:
        self._app = app
        self._settings = settings
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began_s = time.monotonic()
        status = 0

        async def send_guarded(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers[name] = value
                if scope["path"].startswith("/v1/"):
                    headers.setdefault("Cache-Control", "no-store")
            await send(message)

        refusal = self._refusal(scope)
        try:
            if refusal is None:
                await self._app(scope, receive, send_guarded)
            else:
                headers = {"WWW-Authenticate": "Bearer"} if refusal.status == 401 else None
                await problem_response(refusal, headers)(scope, receive, send_guarded)
        finally:
            route = getattr(scope.get("route"), "path", "other") or "/"
            seconds = time.monotonic() - began_s
            self._metrics.observe(_method(scope["method"]), route, status, seconds)

    def _refusal(self, scope: Scope) -> Problem | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if self._settings.is_loopback and not _is_local(host, self._settings.host):
            # A page elsewhere whose name resolves to this machine must not reach the service.
            return problem(421, "WrongHost", "this service answers to its loopback name alone")
        origin = headers.get("origin")
        if origin is not None and urlsplit(origin).netloc != host:
            return problem(403, "ForeignOrigin", "pages of other origins may not use this service")
        token = self._settings.token
        if token is None or not scope["path"].startswith("/v1/") or scope["path"] in OPEN_PATHS:
            return None
        kind, _, given = headers.get("authorization", "").partition(" ")
        is_right = hmac.compare_digest(given.strip().encode(), token.encode())
        if kind.lower() == "bearer" and is_right:
            return None
        return problem(401, "TokenNeeded", "send the token as 'Authorization: Bearer ...'")


def _is_local(host: str, own: str) -> bool:
    try:
        name = urlsplit(f"//{host}").hostname
    except ValueError:
        return False
    return name in (*_LOCAL_NAMES, own)


def _method(name: str) -> str:
    return name if name in ("GET", "POST", "DELETE", "HEAD", "OPTIONS", "PUT", "PATCH") else "other"
