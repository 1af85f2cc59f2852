"""The folder a session is kept in: one session at a time, and only for the data it was made with."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import IO, Any

import numpy as np
import scipy.sparse as sp

from sidecut.checks import FloatArray

SETTINGS, PLACES, LOCK = "studio.json", "places.npy", "studio.lock"


class ProjectBusyError(OSError):
    """Another studio has the folder open."""


class Project:
    """A folder that only one session holds at a time."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        if self.folder.exists() and not self.folder.is_dir():
            raise FileExistsError(f"{self.folder} is a file; a project is a folder: give another name.")
        self.folder.mkdir(parents=True, exist_ok=True)
        self._lock: IO[Any] | None = open(self.folder / LOCK, "a")  # noqa: SIM115 (held while the session lives)
        if not _lock(self._lock):
            self.close()
            raise ProjectBusyError(
                f"{self.folder} is open in another studio; close that one, or name another folder, so that "
                "answers of two people do not mix."
            )

    def close(self) -> None:
        """Let others have the folder."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    @property
    def settings(self) -> dict[str, Any]:
        """What was written with `keep`; nothing in a new folder."""
        path = self.folder / SETTINGS
        return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}

    def keep(self, settings: dict[str, Any]) -> None:
        """Write settings at once: the old ones or the new ones are there, never a part."""
        replace_file(self.folder / SETTINGS, (json.dumps(settings, indent=1) + "\n").encode())

    def check_data(self, fingerprint: str) -> None:
        """Refuse data other than those the folder was made with."""
        kept = self.settings.get("fingerprint")
        if kept is not None and kept != fingerprint:
            raise ValueError(
                f"{self.folder} holds answers about other data than these; name another folder, or open the "
                "data it was made with."
            )

    def places(self) -> FloatArray | None:
        """Return where the points are on the map, if that was kept."""
        path = self.folder / PLACES
        return np.load(path, allow_pickle=False) if path.is_file() else None

    def keep_places(self, places: FloatArray) -> None:
        """Keep where the points are."""
        np.save(self.folder / PLACES, places)


def replace_file(path: Path, content: bytes) -> None:
    """Write beside the file, wait for the disk, then put it in its place at once."""
    part = path.with_name(f"part-{path.name}")
    with open(part, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(part, path)


def fingerprint(X: Any) -> str:
    """Return a few letters that tell data apart."""
    matrix = getattr(X, "matrix", X)
    if sp.issparse(matrix):
        sparse = sp.csr_array(matrix)
        parts = [sparse.data, sparse.indices, sparse.indptr]
    else:
        parts = [np.asarray(matrix)]
    digest = hashlib.sha256()
    for part in parts:
        digest.update(str(part.shape).encode())
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()[:16]


def _lock(file: IO[Any]) -> bool:
    """Lock a file for this process; the system lets it go when the process ends, however it ends."""
    try:
        if os.name == "nt":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
