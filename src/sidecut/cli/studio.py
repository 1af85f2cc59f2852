"""``sidecut studio``: a page that shows data and asks questions about them."""

from __future__ import annotations

import sys
import tempfile
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from sidecut.cli.console import Exit, UsageError, require
from sidecut.cli.inputs import (
    column_roles,
    existing_file,
    known_constraints,
    read_costs,
    read_points,
    read_reliability,
    split_names,
    text_format,
    unknown_values,
    with_edges,
)
from sidecut.cli.options import StudioOptions
from sidecut.cli.predict import save_model
from sidecut.cli.preparation import Points, PreparationOptions
from sidecut.cli.reading import TABLE_SUFFIXES, kind_suffix, read_table
from sidecut.cli.result import ClusterRun
from sidecut.cli.tables import (
    can_name_points,
    count_too_many_texts,
    is_called_id,
    looks_like_ids,
    points_from_table,
)
from sidecut.graphs import as_graph, average_along
from sidecut.images import read_image
from sidecut.studio import Items, Painter, PictureFiles, PictureRows, Session, Setup, recognise_pictures
from sidecut.studio.image_annotation import PaintHandler
from sidecut.studio.messages import File
from sidecut.studio.project import as_file
from sidecut.studio.requests import SessionHandler

PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".webp", ".tif", ".tiff")


def run(options: StudioOptions) -> int:
    """Open the studio, and serve it until it is interrupted."""
    try:
        from sidecut.studio.server import serve
    except ImportError as error:
        raise UsageError(str(error)) from error
    if not options.data.exists():
        existing_file(options.data)
    folder = _folder(options)
    handler: SessionHandler | PaintHandler
    if options.data.suffix.lower() in PICTURES:
        handler = PaintHandler(Painter(read_image(options.data), folder, options.data.name))
    else:
        handler = open_points(options)

    def show_address(address: str) -> None:
        sys.stdout.write(
            f"The studio is at {address}\n"
            f"Answers are kept in {folder}. Stop with Ctrl+C; start again to go on.\n"
        )
        sys.stdout.flush()

    with suppress(KeyboardInterrupt):
        serve(
            handler,
            port=options.port,
            open_browser=options.browser,
            show_address=show_address,
            project=handler.project,
        )
    return Exit.OK


def _folder(options: StudioOptions) -> Path:
    return options.project or options.data.with_name(f"{options.data.name}.studio")


def open_points(options: StudioOptions) -> SessionHandler:
    """Return the requests to a table, an array, a graph or a folder of pictures."""
    if options.data.is_dir():
        points, items = _picture_folder(options)
    elif kind_suffix(options.data) in TABLE_SUFFIXES:
        points, items = _table(options)
    else:
        points, items = _array_or_graph(options)
    points = with_edges(points, options.edges, options.encoding)
    if points.edges is not None:
        points = replace(points, X=average_along(as_graph(points.edges), points.X))
    sys.stdout.write(f"Placing {points.n_samples:,} points on the map; with many this takes a minute.\n")
    if points.used_words:
        sys.stdout.write(f"{points.used_words}\n")
    sys.stdout.flush()
    axes = split_names(options.map)
    if axes and len(axes) != 2:
        raise UsageError(f"--map {options.map}: name two columns, with a comma between.")
    setup = Setup(
        n_clusters=options.clusters,
        is_graph=points.is_graph,
        reliability=read_reliability(options.reliability),
        costs=read_costs(options.costs),
        axes=(axes[0], axes[1]) if axes else None,
        random_state=options.seed,
    )
    folder = _folder(options)
    is_new = not (folder / "studio.json").exists()
    session = Session(points.X, items, folder=folder, setup=setup, title=options.data.name)
    known = known_constraints(
        points,
        options.constraints,
        options.on_conflict,
        unknown=unknown_values(options.unknown),
        encoding=options.encoding,
    )
    if is_new and not known.is_empty:
        session.take(known, "given")
    has_model = not points.is_graph and points.preparation is not None
    return SessionHandler(session, (lambda session: _as_model(points, session)) if has_model else None)


def _table(options: StudioOptions) -> tuple[Points, Items]:
    path = existing_file(options.data)
    roles = column_roles(options)
    frame = read_table(path, text_format(options), roles.special)
    if roles.identity is None and (named := _name_column(frame)):
        sys.stdout.write(f"Points are called by column {named!r}; --id-column names another one.\n")
        options = replace(options, id_column=named)
        roles = replace(roles, identity=named)
    for option in ("show", "drop", "text", "image_column", "map"):
        for name in split_names(getattr(options, option)):
            if name not in frame.columns:
                flag = f"--{option.replace('_', '-')}"
                raise UsageError(f"{flag} {name}: {path} has the columns {', '.join(frame.columns)}.")
    special = {*roles.special, options.text, options.image_column} - {None}
    only_shown = {options.text, options.image_column} - {None}
    roles = replace(roles, drop=(*roles.drop, *(str(c) for c in frame.columns if c in only_shown)))
    wanted = PreparationOptions(options.impute, options.encode, not options.raw, leave_out=not options.encode)
    numbers = frame.select_dtypes("number").columns.difference([*special, *roles.drop])
    if options.text is not None and not len(numbers):
        points = _points_of_words(options, frame)
    else:
        points = points_from_table(frame, path, roles, wanted=wanted)
    shown = split_names(options.show) or tuple(str(c) for c in frame.columns if c not in special)
    features = [c for c in points.columns or () if frame[c].dtype.kind in "iufb"]
    return points, _items(options, points, frame, shown, features)


def _name_column(frame: pd.DataFrame) -> str | None:
    """Return the column that names the rows: ids, or texts that are all different."""
    for column in map(str, frame.columns):
        is_short = frame[column].dtype.kind in "iu" or frame[column].astype(str).str.len().max() <= 60
        is_name = looks_like_ids(frame[column], column) or (
            frame[column].dtype.kind not in "iufbmM"
            and (is_called_id(column) or count_too_many_texts(frame[column]) > 0)
        )
        if is_name and is_short and can_name_points(frame[column]):
            return column
    return None


def _points_of_words(options: StudioOptions, frame: pd.DataFrame) -> Points:
    """Return texts as points: TF-IDF of their words, in at most 50 dimensions."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.preprocessing import normalize

    words = TfidfVectorizer(sublinear_tf=True, stop_words="english").fit_transform(
        frame[options.text].fillna("").astype(str)
    )
    n = min(50, min(words.shape) - 1)
    if n < 1:
        raise UsageError(f"--text {options.text}: the column has too few different words to tell rows apart.")
    X = normalize(TruncatedSVD(n, random_state=options.seed).fit_transform(words))
    names = None if options.id_column is None else tuple(frame[options.id_column].astype(str))
    return Points(X, options.data, names=names)


def _items(
    options: StudioOptions, points: Points, frame: pd.DataFrame, shown: tuple[str, ...], features: list[str]
) -> Items:
    more = {}
    if options.truth_column is not None:
        more["class"] = frame[options.truth_column].astype(str).tolist()
    for axis in split_names(options.map):
        if axis not in shown:
            more[axis] = frame[axis].tolist()
    numbers = frame[features].to_numpy(dtype=float) if features else np.empty((len(frame), 0))
    options = _with_image_shape(options, numbers, features)
    drawn = options.series or options.image_shape is not None
    table = {} if drawn and options.show is None else {name: frame[name].tolist() for name in shown}
    return Items(
        [points.name(row) for row in range(points.n_samples)],
        table,
        more,
        text=None if options.text is None else frame[options.text].fillna("").astype(str).tolist(),
        pictures=_pictures(options, frame, numbers),
        series=numbers if options.series else None,
        name_column=points.name_column if points.names is not None else "index",
        unused={name for name in shown if name not in points.columns or name in points.left_out}
        if points.columns
        else (),
        about=points.used_words,
    )


def _with_image_shape(options: StudioOptions, numbers: Any, names: list[str]) -> StudioOptions:
    """Say that rows are pictures where they look like it."""
    if options.image_shape == "none":
        return replace(options, image_shape=None)
    is_asked = options.series or options.show or options.text or options.images or options.image_shape
    shape = None if is_asked else recognise_pictures(numbers, names)
    if shape is None:
        return options
    said = f"{shape[0]}x{shape[1]}"
    sys.stdout.write(
        f"The {numbers.shape[1]} columns look like pictures of {said} pixels, and are shown so "
        "(--image-shape none shows the numbers).\n"
    )
    return replace(options, image_shape=said)


def _pictures(options: StudioOptions, frame: pd.DataFrame | None, numbers: Any) -> Any:
    if options.image_shape is not None:
        height, _, width = options.image_shape.lower().partition("x")
        if not (height.isdigit() and width.isdigit()):
            raise UsageError(
                f"--image-shape {options.image_shape}: write height and width in pixels, as 28x28."
            )
        return PictureRows(np.asarray(numbers, dtype=float), (int(height), int(width)))
    if options.images is None:
        return None
    if not options.images.is_dir():
        raise UsageError(f"--images {options.images} is no folder.")
    if options.image_column is not None and frame is not None:
        return PictureFiles(options.images, frame[options.image_column].fillna("").astype(str).tolist())
    files = [path.name for path in _picture_files(options.images)]
    if len(files) != len(numbers):
        raise UsageError(
            f"--images {options.images} holds {len(files)} pictures for {len(numbers)} rows; name the file "
            "of each row with --image-column."
        )
    return PictureFiles(options.images, files)


def _array_or_graph(options: StudioOptions) -> tuple[Points, Items]:
    points = read_points(options.data, roles=column_roles(options))
    names = [points.name(row) for row in range(points.n_samples)]
    more = {} if points.truth is None else {"class": [str(label) for label in points.truth]}
    if points.is_graph:
        return points, Items(names, {}, more, graph=sp.csr_array(points.X))
    rows = points.X.toarray() if sp.issparse(points.X) else np.asarray(points.X, dtype=float)
    options = _with_image_shape(options, rows, [str(column) for column in range(rows.shape[1])])
    pictures = _pictures(options, None, rows)
    n_shown = min(rows.shape[1], 12) if pictures is None and not options.series else 0
    table = {str(column): rows[:, column].tolist() for column in range(n_shown)}
    return points, Items(names, table, more, pictures=pictures, series=rows if options.series else None)


def _picture_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.suffix.lower() in PICTURES)


def _picture_folder(options: StudioOptions) -> tuple[Points, Items]:
    """Return the pictures of a folder as points: the pixels of thumbnails of 16 x 16."""
    image = require("PIL.Image", "Reading pictures")
    files = _picture_files(options.data)
    if len(files) < 2:
        raise UsageError(f"{options.data} holds {len(files)} pictures; there must be at least two.")
    rows = []
    for path in files:
        with image.open(path) as picture:
            small = picture.convert("RGB").resize((16, 16), resample=image.Resampling.BOX)
        rows.append(np.asarray(small, dtype=float).ravel() / 255)
    names = tuple(path.name for path in files)
    points = Points(np.array(rows), options.data, names=names)
    return points, Items(names, pictures=PictureFiles(options.data, names))


def _as_model(points: Points, session: Session) -> File:
    """Return a model that ``sidecut predict`` reads: new points go where their nearest neighbours are."""
    names = {number: name for number, name in session.cluster_names().items() if name}
    clusters = SimpleNamespace(labels_=session.labels, cluster_classes_=names)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.skops"
        save_model(path, ClusterRun(points, session.run.constraints_, "studio", clusters))
        return as_file(path.name, "application/octet-stream", path.read_bytes())
