"""What a person takes home: labels, constraints, the model, a report; and constraints brought along."""

from __future__ import annotations

import base64
import csv
import io
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from sidecut import __version__
from sidecut.constraints import Constraints, read_constraints, write_constraints
from sidecut.studio.messages import File
from sidecut.studio.session import Session

#: A report draws at most so many points.
DRAWN = 3_000
#: As in the page, on light ground.
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
    """Read constraints from the text of a file; points are called by row number, or else by name."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "constraints.csv"
        path.write_text(text, encoding="utf-8")
        try:
            return read_constraints(path, len(names))
        except ValueError as by_number:
            if [str(row) for row in range(len(names))] == list(names):
                raise ValueError(_without_path(by_number, path)) from by_number
            try:
                return read_constraints(path, len(names), names=list(names))
            except ValueError:
                raise ValueError(_without_path(by_number, path)) from by_number


def _without_path(error: Exception, path: Path) -> str:
    return str(error).replace(str(path), "the file")


def _labels(session: Session) -> tuple[str, str, bytes]:
    run, names = session.run, session.cluster_names()
    sheet = io.StringIO()
    rows = csv.writer(sheet, lineterminator="\n")
    rows.writerow(["point", "cluster", "name", "confidence"])
    for point, label, sure in zip(session.items.names, run.labels_, run.confidence_, strict=True):
        rows.writerow([_plain(str(point)), int(label), _plain(names[label]), f"{sure:.4f}"])
    return "labels.csv", "text/csv", sheet.getvalue().encode()


def _plain(cell: str) -> str:
    """Keep a spreadsheet from taking a name for a formula."""
    return f"'{cell}" if cell[:1] in ("=", "+", "-", "@", "\t") and not _is_number(cell) else cell


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _constraints(session: Session) -> tuple[str, str, bytes]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "constraints.csv"
        write_constraints(path, session.run.constraints_)
        return "constraints.csv", "text/csv", path.read_bytes()


def _model(session: Session) -> tuple[str, str, bytes]:
    """The run as `ActiveClustering.load` reads it, once it is unpacked."""
    buffer = io.BytesIO()
    with (
        tempfile.TemporaryDirectory() as folder,
        zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as packed,
    ):
        session.copy_run(Path(folder))
        for path in sorted(Path(folder).iterdir()):
            packed.write(path, f"run/{path.name}")
    return "run.zip", "application/zip", buffer.getvalue()


def _report(session: Session) -> tuple[str, str, bytes]:
    try:
        import jinja2
    except ImportError as error:
        raise ImportError("A report needs Jinja: pip install 'sidecut[studio]'.") from error
    loader = jinja2.FileSystemLoader(Path(__file__).parent / "static")
    template = jinja2.Environment(autoescape=True, loader=loader).get_template("report.html")
    page = template.render(
        title=session.title,
        version=__version__,
        n_points=len(session.items),
        clusters=_cluster_rows(session),
        facts=session.facts(),
        outlook=session.run.outlook_.words,
        dots=_dots(session),
    )
    return "report.html", "text/html", page.encode()


def _cluster_rows(session: Session) -> list[dict[str, object]]:
    run, names = session.run, session.cluster_names()
    sizes = np.bincount(run.labels_)
    return [
        {
            "name": names[c] or f"cluster {session.colors[c] + 1}",
            "color": COLORS[session.colors[c] % len(COLORS)],
            "size": int(sizes[c]),
            "share": f"{sizes[c] / len(run.labels_):.1%}",
            "sure": f"{run.confidence_[run.labels_ == c].mean():.0%}",
            "typical": ", ".join(str(session.items.names[i]) for i in session.members(int(c)).typical),
        }
        for c in np.argsort(-sizes, kind="stable")
    ]


def _dots(session: Session) -> list[tuple[str, str, str]]:
    """Places and colours of some points, for a picture of 1000 x 1000."""
    n = len(session.items)
    rows = np.arange(n) if n <= DRAWN else np.random.RandomState(0).permutation(n)[:DRAWN]
    colors = session.colors[session.run.labels_]
    return [
        (f"{500 + 480 * x:.0f}", f"{500 - 480 * y:.0f}", COLORS[color % len(COLORS)])
        for (x, y), color in zip(session.places[rows], colors[rows], strict=True)
    ]
