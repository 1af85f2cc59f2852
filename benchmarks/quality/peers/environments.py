"""One virtual environment per peer, made once and kept in a cache folder."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from benchmarks.quality.peers.registry import Peer


class InstallError(RuntimeError):
    """A peer does not install."""


def python_of(peer: Peer, cache: Path) -> Path:
    """Return the interpreter of a peer's environment, made where it is not there yet.

    Raises
    ------
    InstallError
        With the last line pip said.
    """
    if not peer.requirements:
        return Path(sys.executable)
    folder = cache / peer.name
    python, ready = folder / "bin" / "python", folder / "requirements.txt"
    wanted = "\n".join(peer.requirements)
    if not ready.exists() or ready.read_text() != wanted:
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        install(python, peer.requirements)
        ready.write_text(wanted)
    return python


def install(python: Path, requirements: tuple[str, ...]) -> None:
    """Install what a peer needs by pip, wherever pip is set up to look."""
    command = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *requirements]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ)
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if "error" in line.lower()]
        raise InstallError(last_line("\n".join(errors) or done.stderr))


def last_line(text: str) -> str:
    """Return the last line that says something, without paths and addresses of this machine."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return re.sub(r"\S*/\S+/\S*", "…", lines[-1]) if lines else "no message"
