"""Attacks on the server: what does not come from its own page gets nothing."""

import json
import socket
from urllib.parse import urlsplit

import httpx
import pytest

from sidecut.studio.server import MAX_BYTES, new_token

STATE = {"do": "state"}


@pytest.fixture
def address(served):
    return served[1]


def test_the_page_itself_is_served_with_a_policy(address):
    reply = httpx.get(address)
    assert reply.status_code == 200
    policy = reply.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert reply.headers["referrer-policy"] == "no-referrer"
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert httpx.post(address + "api", json=STATE).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "evil.example:80"},
        {"Host": "127.0.0.1"},
        {"Host": "127.0.0.1.evil.example"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "https://127.0.0.1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_other_sites_get_nothing(address, headers):
    for reply in (
        httpx.post(address + "api", json=STATE, headers=headers),
        httpx.get(address, headers=headers),
    ):
        assert reply.status_code == 403
        assert "labels" not in reply.text


@pytest.mark.parametrize(
    "path", ["/", "/api", "/wrong/api", "/test-toke/api", "/test-tokenn/api", "/main.js"]
)
def test_no_token_no_answer(address, path):
    site = urlsplit(address)
    url = f"{site.scheme}://{site.netloc}{path}"
    assert httpx.post(url, json=STATE).status_code == 403
    assert httpx.get(url).status_code == 403


@pytest.mark.parametrize(
    "path",
    [
        "../session.py",
        "..%2fsession.py",
        "%2e%2e/%2e%2e/__init__.py",
        "%2e%2e%2f%2e%2e%2fpy.typed",
        "/etc/passwd",
        "..\\session.py",
        "static/../../session.py",
        "%252e%252e/session.py",
    ],
)
def test_nothing_outside_the_page_is_served(address, path):
    # Sent as it is: a client would tidy the path up.
    site = urlsplit(address)
    with socket.create_connection((site.hostname, site.port)) as line:
        line.sendall(
            f"GET {site.path}{path} HTTP/1.1\r\nHost: {site.netloc}\r\nConnection: close\r\n\r\n".encode()
        )
        reply = b"".join(iter(lambda: line.recv(65536), b""))
    assert reply.split(b"\r\n")[0].split()[1] in (b"403", b"404", b"400")
    assert b"import" not in reply
    assert b"root:" not in reply


def test_only_json_is_taken(address):
    form = httpx.post(address + "api", content=json.dumps(STATE), headers={"Content-Type": "text/plain"})
    assert form.status_code == 415
    assert (
        httpx.post(address + "api", content=b"{", headers={"Content-Type": "application/json"}).status_code
        == 400
    )
    assert httpx.get(address + "api").status_code in (404, 405)


def test_endless_requests_are_refused(address):
    site = urlsplit(address)
    with socket.create_connection((site.hostname, site.port)) as line:
        head = (
            f"POST {site.path}api HTTP/1.1\r\nHost: {site.netloc}\r\nContent-Length: {MAX_BYTES + 1}\r\n\r\n"
        )
        line.sendall(head.encode())
        assert b"403" in line.recv(65536).split(b"\r\n")[0]


def test_tokens_are_long_and_never_the_same():
    tokens = {new_token() for _ in range(100)}
    assert len(tokens) == 100
    assert min(len(token) for token in tokens) >= 20


def test_the_server_listens_on_this_machine_only(monkeypatch):
    from sidecut.studio import server

    bound = []
    monkeypatch.setattr(
        server.uvicorn.Server, "run", lambda self, sockets: bound.append(sockets[0].getsockname())
    )
    told = []
    server.serve(None, open_browser=False, show_address=told.append)
    assert bound[0][0] == "127.0.0.1"
    assert told[0].startswith(f"http://127.0.0.1:{bound[0][1]}/")
    assert len(urlsplit(told[0]).path.strip("/")) >= 20


def test_whoever_follows_the_address_at_once_is_not_refused(monkeypatch):
    from sidecut.studio import server

    monkeypatch.setattr(server.uvicorn.Server, "run", lambda self, sockets: None)
    lines = []

    def follow(address):
        # The server does not run yet, as on a busy machine: the connection waits for it.
        lines.append(
            socket.create_connection((urlsplit(address).hostname, urlsplit(address).port), timeout=5)
        )

    server.serve(None, open_browser=False, show_address=follow)
    assert len(lines) == 1
    lines[0].close()
