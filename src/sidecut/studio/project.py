"""The folder of a session, and the files a person takes home: labels, constraints, the model, a report."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import os
import re
import secrets
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from copy import copy
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from sidecut import __version__
from sidecut.active import ActiveClustering
from sidecut.checks import FloatArray
from sidecut.constraints import Constraints, read_constraints, write_constraints
from sidecut.studio.messages import File

if TYPE_CHECKING:
    from sidecut.studio.session import Session

SETTINGS, PLACES, LOCK, ADDRESS = "studio.json", "places.npy", "studio.lock", "address.json"
#: Colours of clusters, as in the page on a light ground.
COLORS = (
    "#0077c5",
    "#e69f00",
    "#009e73",
    "#d86303",
    "#7a3e9d",
    "#56b4e9",
    "#835800",
    "#cc79a7",
    "#142828",
    "#5000c8",
    "#b4b464",
    "#a03c3c",
    "#505064",
    "#3c2800",
    "#8c50f0",
    "#3c0078",
)


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
        """Unlock the folder."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    @property
    def settings(self) -> dict[str, Any]:
        """The settings that `keep` wrote; empty in a new folder."""
        path = self.folder / SETTINGS
        return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}

    def keep(self, settings: dict[str, Any]) -> None:
        """Replace the settings in one step, so that the file is never half written."""
        replace_file(self.folder / SETTINGS, (json.dumps(settings, indent=1) + "\n").encode())

    def check_data(self, fingerprint: str) -> None:
        """Refuse data other than those the folder was made with."""
        kept = self.settings.get("fingerprint")
        if kept is not None and kept != fingerprint:
            raise ValueError(
                f"{self.folder} holds answers about other data than these; name another folder, or open the "
                "data it was made with."
            )

    def address(self) -> dict[str, Any]:
        """Return the port and the token the page had last time; new ones in a new folder."""
        path = self.folder / ADDRESS
        kept = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
        return {"port": 0, "token": secrets.token_urlsafe(16), **kept}

    def keep_address(self, port: int, token: str) -> None:
        """Keep the port and the token, so that a page that is open finds the studio again."""
        path = self.folder / ADDRESS
        # Only its owner may read the token.
        path.touch(mode=0o600)
        path.write_text(json.dumps({"port": port, "token": token}) + "\n", encoding="utf-8")

    def places(self) -> FloatArray | None:
        """Return where the points are on the map, if that was kept."""
        path = self.folder / PLACES
        return np.load(path, allow_pickle=False) if path.is_file() else None

    def keep_places(self, places: FloatArray) -> None:
        """Keep where the points are."""
        np.save(self.folder / PLACES, places)


def replace_file(path: Path, content: bytes) -> None:
    """Write beside the file, wait for the disk, then replace it in one step."""
    part = path.with_name(f"part-{path.name}")
    with open(part, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(part, path)


def fingerprint(X: Any) -> str:
    """Return the first letters of a hash of the data."""
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
    """Lock a file for this process; the system unlocks it when the process ends."""
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


def export_file(session: Session, what: str) -> File:
    """Return a file by what it holds: "labels", "constraints", "model" or "report"."""
    makers: dict[str, Callable[[Session], tuple[str, str, bytes]]] = {
        "labels": _labels,
        "constraints": _constraints,
        "model": _model,
        "report": _report,
    }
    if what not in makers:
        raise ValueError(f"There is no export {what!r}; there are {', '.join(makers)}.")
    return as_file(*makers[what](session))


def as_file(name: str, kind: str, content: bytes) -> File:
    """Return bytes as a file in a message."""
    return File(name=name, type=kind, data=base64.b64encode(content).decode("ascii"))


def read_text_constraints(text: str, names: Sequence[str]) -> Constraints:
    """Read constraints from the text of a file that calls points by name, or else by row number."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "constraints.csv"
        path.write_text(text, encoding="utf-8")
        try:
            try:
                return read_constraints(path, len(names), names=list(names))
            except ValueError as error:
                # Names that are numbers are never taken for row numbers.
                by_row = re.search(r"no sample is called '\d+'", str(error))
                if not by_row or any(str(name).isdigit() for name in names):
                    raise
                return read_constraints(path, len(names))
        except ValueError as error:
            raise ValueError(str(error).replace(str(path), "the file")) from error


def _labels(session: Session) -> tuple[str, str, bytes]:
    """Return the columns that ``sidecut cluster`` writes: names, label, class if one is known, confidence."""
    labels, shown = session.labels.tolist(), session.shown_names()
    columns = {
        session.items.name_column: [_plain(str(name)) for name in session.items.names],
        "label": labels,
    }
    if any(session.cluster_names().values()):
        columns["class"] = [_plain(shown[label]) for label in labels]
    columns["confidence"] = np.round(session.run.confidence_, 4).tolist()
    sheet = io.StringIO()
    rows = csv.writer(sheet, lineterminator="\n")
    rows.writerow(columns)
    rows.writerows(zip(*columns.values(), strict=True))
    return "labels.csv", "text/csv", sheet.getvalue().encode()


def _plain(cell: str) -> str:
    """Quote a name that a spreadsheet would take for a formula."""
    try:
        float(cell)
    except ValueError:
        return f"'{cell}" if cell[:1] in ("=", "+", "-", "@", "\t") else cell
    return cell


def _constraints(session: Session) -> tuple[str, str, bytes]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "constraints.csv"
        names = None if session.items.name_column == "index" else session.items.names
        write_constraints(path, session.run.constraints_, names=names)
        return "constraints.csv", "text/csv", path.read_bytes()


def _model(session: Session) -> tuple[str, str, bytes]:
    """Return an archive of a folder for `ActiveClustering.load`, and of the labels as the page has them."""
    # A run numbers clusters in order of first appearance.
    buffer = io.BytesIO()
    with (
        tempfile.TemporaryDirectory() as folder,
        zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as packed,
    ):
        # A copy, because saving changes where a run keeps its answers.
        ActiveClustering.save(copy(session.run), Path(folder))
        for path in sorted(Path(folder).iterdir()):
            packed.write(path, f"run/{path.name}")
        name, _, rows = _labels(session)
        packed.writestr(name, rows)
    return "run.zip", "application/zip", buffer.getvalue()


def _report(session: Session) -> tuple[str, str, bytes]:
    try:
        import jinja2
    except ImportError as error:
        raise ImportError("A report needs Jinja: pip install jinja2.") from error
    loader = jinja2.FileSystemLoader(Path(__file__).parent / "static")
    template = jinja2.Environment(autoescape=True, loader=loader).get_template("report.html")
    page = template.render(
        title=session.title,
        version=__version__,
        n_points=len(session.items),
        clusters=_cluster_rows(session),
        facts=session.facts(),
        n_answers=session.n_actions,
        outlook=session.run.stopping_estimate_.words,
        dots=_dots(session),
    )
    return "report.html", "text/html", page.encode()


def _cluster_rows(session: Session) -> list[dict[str, object]]:
    labels, shown = session.labels, session.shown_names()
    sizes = np.bincount(labels)
    return [
        {
            "name": shown[c],
            "color": COLORS[c % len(COLORS)],
            "size": int(sizes[c]),
            "share": f"{sizes[c] / len(labels):.1%}",
            "sure": f"{session.run.confidence_[labels == c].mean():.0%}",
            "typical": ", ".join(str(session.items.names[i]) for i in session.members(c).typical),
        }
        for c in sorted(shown, key=lambda number: -sizes[number])
    ]


def _dots(session: Session) -> list[tuple[str, str, str]]:
    """Return places and colours of at most 3,000 points, for a picture of 1000 x 1000."""
    rows = np.sort(np.random.RandomState(0).permutation(len(session.items))[:3_000])
    colors = session.labels
    return [
        (f"{500 + 480 * x:.0f}", f"{500 - 480 * y:.0f}", COLORS[color % len(COLORS)])
        for (x, y), color in zip(session.places[rows], colors[rows], strict=True)
    ]
