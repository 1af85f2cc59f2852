"""A studio served from a thread, and a browser to look at it."""

from __future__ import annotations

import os
import shutil
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from playwright.sync_api import Page, sync_playwright

from sidecut.studio.server import make_app

BROWSERS = (
    "chromium",
    "chromium-browser",
    "chromium-headless-shell",
    "google-chrome",
    "google-chrome-stable",
)
TOKEN = "a-token-for-this-run"


@contextmanager
def open_page(handler: Any, **context: Any) -> Iterator[Page]:
    """Serve requests and open its page; keywords are those of a browser context."""
    with socket.socket() as listener, sync_playwright() as playwright:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        server = uvicorn.Server(uvicorn.Config(make_app(handler, port, TOKEN), log_level="error"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        browser = playwright.chromium.launch(
            executable_path=browser_path(), args=["--no-sandbox", "--enable-unsafe-swiftshader"]
        )
        page = browser.new_context(**context).new_page()
        page.goto(f"http://127.0.0.1:{port}/{TOKEN}/")
        page.wait_for_function("() => window.studio?.state && !studio.isBusy", polling=20, timeout=60_000)
        yield page
        browser.close()
        server.should_exit = True
        thread.join()


def browser_path() -> str:
    found = os.environ.get("SIDECUT_CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        raise SystemExit("Chromium is missing: `make browser` installs it, or SIDECUT_CHROMIUM names one.")
    return found
