"""The studio's server: its own page and one address for requests, on this machine only."""

from __future__ import annotations

import json
import secrets
import socket
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from sidecut.studio.project import Project

#: The page loads nothing from elsewhere, runs only its own modules, and cannot be framed.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; font-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}
#: Largest request: a lasso around a million points, or a painted picture.
MAX_BYTES = 32_000_000

try:
    import uvicorn
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.datastructures import Headers, MutableHeaders
    from starlette.requests import Request
    from starlette.responses import JSONResponse, PlainTextResponse, Response
    from starlette.routing import Mount, Route
    from starlette.staticfiles import StaticFiles
    from starlette.types import ASGIApp, Message, Receive, Scope, Send
except ImportError as error:
    raise ImportError("The studio needs Starlette and uvicorn: pip install starlette uvicorn.") from error

STATIC = Path(__file__).parent / "static"
HOST = "127.0.0.1"


class Handler(Protocol):
    """Replies to requests: a `SessionHandler` or a `PaintHandler`."""

    def handle(self, request: Any) -> dict[str, Any]:
        """Return the reply."""
        ...


def make_app(handler: Handler, port: int, token: str) -> Guard:
    """Return the application: ``/token/`` is the page, ``/token/api`` takes requests."""

    async def api(request: Request) -> Response:
        if request.headers.get("content-type", "").partition(";")[0] != "application/json":
            return JSONResponse({"error": {"words": "Requests are JSON."}}, status_code=415)
        try:
            asked = json.loads(await request.body())
        except ValueError:
            return JSONResponse({"error": {"words": "The request is no JSON."}}, status_code=400)
        reply = await run_in_threadpool(handler.handle, asked)
        return JSONResponse(reply, status_code=409 if "error" in reply else 200)

    routes = [
        Route(f"/{token}/api", api, methods=["POST"]),
        Mount(f"/{token}", StaticFiles(directory=STATIC, html=True)),
    ]
    return Guard(Starlette(routes=routes), port, token)


def serve(
    handler: Handler,
    *,
    port: int = 0,
    token: str | None = None,
    open_browser: bool = True,
    show_address: Callable[[str], None] = lambda address: None,
    project: Project | None = None,
) -> None:
    """Serve until interrupted; a project has its address of last time, if the port is free."""
    kept = {} if project is None else project.address()
    token = token or kept.get("token") or new_token()
    port = port or _free(kept.get("port", 0))
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((HOST, port))
        port = listener.getsockname()[1]
        if project is not None:
            project.keep_address(port, token)
        address = f"http://{HOST}:{port}/{token}/"
        settings = uvicorn.Config(
            make_app(handler, port, token), log_level="warning", access_log=False, server_header=False
        )
        # Listening before the address is shown: early connections wait until the server takes them.
        listener.listen()
        show_address(address)
        if open_browser:
            webbrowser.open(address)
        uvicorn.Server(settings).run(sockets=[listener])


def _free(port: int) -> int:
    """Return a port if this machine does not use it, or else 0, which is any port."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind((HOST, port))
        except OSError:
            return 0
    return port


def new_token() -> str:
    """Return 128 random bits for the address."""
    return secrets.token_urlsafe(16)


class Guard:
    """Accepts requests of the server's own page only, and adds the headers that protect it."""

    def __init__(self, app: ASGIApp, port: int, token: str) -> None:
        self.app, self.token = app, token
        self.hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        why = self.refusal(Headers(scope=scope), scope["path"])
        app = self.app if why is None else PlainTextResponse(why, status_code=403)

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        await app(scope, receive, send_with_headers)

    def refusal(self, headers: Headers, path: str) -> str | None:
        """Return why a request is refused, or None if it is not."""
        if headers.get("host") not in self.hosts:
            return "This server is called 127.0.0.1 only."
        origin = headers.get("origin")
        if origin is not None and origin.removeprefix("http://") not in self.hosts:
            return "Other sites may not ask this server."
        # "none" is an address typed by a person; links from other sites are refused.
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return "Other sites may not ask this server."
        first = path.lstrip("/").partition("/")[0]
        if not secrets.compare_digest(first.encode(), self.token.encode()):
            return "The address lacks its token. Use the address that the studio printed."
        if int(headers.get("content-length") or 0) > MAX_BYTES:
            return f"A request has at most {MAX_BYTES:,} bytes."
        return None
