"""What the server refuses: whoever is not on this machine's own page.

Three things keep other web sites and other people out. The server listens on 127.0.0.1 only. All its
addresses start with a random token. And a request is refused unless it names this server in Host, and comes
from no other site by Origin and Sec-Fetch-Site; so neither a page elsewhere nor a name that is made to point
to this machine (DNS rebinding) gets an answer.
"""

from __future__ import annotations

import secrets

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

#: Nothing is loaded from elsewhere, nothing in the page may run but its own modules, nobody may frame it.
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
#: A request is at most so long (a lasso around a million points, or a painted picture).
MOST_BYTES = 32_000_000


def new_token() -> str:
    """Return 128 random bits for the address."""
    return secrets.token_urlsafe(16)


class Guard:
    """Lets requests of the server's own page through, and adds the headers that keep the page to itself.

    Parameters
    ----------
    app : ASGI application
        What is guarded.
    port : int
        The server's port.
    token : str
        What every address starts with.
    """

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
        """Return why a request is refused, or None if it is not.

        Examples
        --------
        >>> from starlette.datastructures import Headers
        >>> from sidecut.studio.safety import Guard
        >>> guard = Guard(None, 8000, "secret")
        >>> guard.refusal(Headers({"host": "evil.example"}), "/secret/")
        'This server is called 127.0.0.1 only.'
        >>> guard.refusal(Headers({"host": "127.0.0.1:8000"}), "/secret/") is None
        True
        """
        if headers.get("host") not in self.hosts:
            return "This server is called 127.0.0.1 only."
        origin = headers.get("origin")
        if origin is not None and origin.removeprefix("http://") not in self.hosts:
            return "Other sites may not ask this server."
        # "none" is an address typed by a person; whatever another site links to is refused.
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return "Other sites may not ask this server."
        first = path.lstrip("/").partition("/")[0]
        if not secrets.compare_digest(first.encode(), self.token.encode()):
            return "The address lacks its token. Use the address that the studio printed."
        if int(headers.get("content-length") or 0) > MOST_BYTES:
            return f"A request has at most {MOST_BYTES:,} bytes."
        return None
