"""The studio's server: its own page and one address for requests, on this machine only."""

from __future__ import annotations

import json
import socket
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

try:
    import uvicorn
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.requests import Request
    from starlette.responses import JSONResponse, Response
    from starlette.routing import Mount, Route
    from starlette.staticfiles import StaticFiles

    from sidecut.studio.safety import Guard, new_token
except ImportError as error:
    raise ImportError("The studio needs Starlette and uvicorn: pip install 'sidecut[studio]'.") from error

STATIC = Path(__file__).parent / "static"
HOST = "127.0.0.1"


class Handler(Protocol):
    """Whoever replies to requests: a `Desk` or a `PaintDesk`."""

    def handle(self, request: Any) -> dict[str, Any]:
        """Return the reply."""
        ...


def make_app(desk: Handler, port: int, token: str) -> Guard:
    """Return the application: ``/token/`` is the page, ``/token/api`` takes requests.

    Parameters
    ----------
    desk : Desk or PaintDesk
        Replies to requests.
    port : int
        The server's port, which requests must name.
    token : str
        What every address starts with.
    """

    async def api(request: Request) -> Response:
        if request.headers.get("content-type", "").partition(";")[0] != "application/json":
            return JSONResponse({"error": {"words": "Requests are JSON."}}, status_code=415)
        try:
            asked = json.loads(await request.body())
        except ValueError:
            return JSONResponse({"error": {"words": "The request is no JSON."}}, status_code=400)
        reply = await run_in_threadpool(desk.handle, asked)
        return JSONResponse(reply, status_code=409 if "error" in reply else 200)

    routes = [
        Route(f"/{token}/api", api, methods=["POST"]),
        Mount(f"/{token}", StaticFiles(directory=STATIC, html=True)),
    ]
    return Guard(Starlette(routes=routes), port, token)


def serve(
    desk: Handler,
    *,
    port: int = 0,
    token: str | None = None,
    open_browser: bool = True,
    tell: Callable[[str], None] = lambda address: None,
) -> None:
    """Serve until interrupted.

    Parameters
    ----------
    desk : Desk or PaintDesk
        Replies to requests.
    port : int
        0 takes a free one.
    token : str, optional
        What the address starts with; random by default.
    open_browser : bool
        Whether to open the page.
    tell : callable
        Is told the address.
    """
    token = token or new_token()
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((HOST, port))
        port = listener.getsockname()[1]
        address = f"http://{HOST}:{port}/{token}/"
        settings = uvicorn.Config(
            make_app(desk, port, token), log_level="warning", access_log=False, server_header=False
        )
        tell(address)
        if open_browser:
            webbrowser.open(address)
        uvicorn.Server(settings).run(sockets=[listener])
