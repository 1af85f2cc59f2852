"""A small data set, a server in a thread, and a real browser."""

import socket
import threading
import time
from contextlib import contextmanager

import numpy as np
import pytest
import uvicorn
from playwright.sync_api import expect

from sidecut.studio import Items, Session, Setup
from sidecut.studio.requests import SessionHandler
from sidecut.studio.server import make_app

TOKEN = "test-token"
#: Milliseconds; machines that run many tests at once are slow.
PATIENCE = 30_000
expect.set_options(timeout=PATIENCE)


def three_groups(n=20, random_state=0):
    """Three round groups of n points, and their classes."""
    rng = np.random.RandomState(random_state)
    centers = np.array([[0.0, 0.0], [4.0, 0.5], [1.5, 4.0]])
    return np.vstack([rng.normal(center, 0.7, (n, 2)) for center in centers]), np.repeat([0, 1, 2], n)


def items_of(X, y):
    return Items(
        [f"point {row}" for row in range(len(X))],
        {"x": X[:, 0].tolist(), "y": X[:, 1].tolist(), "note": [f"of {label}" for label in y]},
        {"class": [str(label) for label in y]},
    )


@pytest.fixture
def data():
    return three_groups()


@pytest.fixture
def open_session(tmp_path):
    """Open a session on the small data; all are closed at the end."""
    opened = []

    def open_(folder="project", **setup):
        X, y = three_groups()
        session = Session(
            X, items_of(X, y), folder=folder and tmp_path / folder, setup=Setup(**setup), title="three groups"
        )
        opened.append(session)
        return session

    yield open_
    for session in opened:
        session.close()


@contextmanager
def serving(handler, port=0):
    """Serve requests from a thread; give its address."""
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port))
        port = listener.getsockname()[1]
        server = uvicorn.Server(uvicorn.Config(make_app(handler, port, TOKEN), log_level="error"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        try:
            yield f"http://127.0.0.1:{port}/{TOKEN}/"
        finally:
            server.should_exit = True
            thread.join()


@pytest.fixture(name="serving")
def serving_():
    return serving


@pytest.fixture
def served(open_session):
    """A session of the small data with two columns as its map, and its address."""
    session = open_session(axes=("x", "y"))
    with serving(SessionHandler(session)) as address:
        yield session, address


@pytest.fixture
def open_page(browser):
    """Open an address; at the end, nothing may have gone wrong on the page, and no request elsewhere."""
    pages, requests, errors = [], [], []

    def open_(address, width=1100, height=760, **context):
        page = browser.new_context(viewport={"width": width, "height": height}, **context).new_page()
        page.set_default_timeout(PATIENCE)
        page.on("request", lambda request: requests.append(request.url))
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda line: line.type == "error" and errors.append(line.text))
        pages.append((page, address))
        page.goto(address)
        return page

    open_.errors = errors
    yield open_
    for page, _ in pages:
        page.context.close()
    origins = tuple(address.partition(f"/{TOKEN}")[0] for _, address in pages)
    elsewhere = [url for url in requests if not url.startswith((*origins, "data:", "blob:"))]
    assert not elsewhere
    # What the server refuses is a reply of its own kind, which the browser notes as an error; and pages that
    # are still open ask for a server that a test has ended.
    expected = ("409", "ERR_CONNECTION_REFUSED")
    assert [error for error in errors if not any(word in error for word in expected)] == []
