"""Tables to points: which columns are features, which are not, and all that a table needs, in one message."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sidecut.cli.console import UsageError, did_you_mean, in_options
from sidecut.cli.preparation import (
    Points,
    PreparationOptions,
    checked_names,
    gap_words,
    learn_preparation,
    listed,
    quoted,
    text_columns,
)
from sidecut.cli.reading import has_unclear_numbers
from sidecut.constraints.inputs import ASKED_ABOUT, UNKNOWN, is_missing, labels_from_text, read_labels
from sidecut.exceptions import ConstraintError

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class ColumnRoles:
    """Which columns of a table mean what."""

    label: str | None = None
    truth: str | None = None
    identity: str | None = None
    apart: str | None = None
    together: str | None = None
    keep: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    unknown: tuple[str, ...] | None = None

    @property
    def special(self) -> tuple[str, ...]:
        """The columns that are no features."""
        named = (self.label, self.truth, self.identity, self.apart, self.together)
        return tuple(column for column in named if column is not None)

    def reason(self, column: str) -> str:
        """Return why a column is not clustered by, as far as the user said it."""
        meanings = {
            self.apart: "rows apart",
            self.together: "rows together",
            self.label: "known classes",
            self.truth: "true classes",
            self.identity: "names",
        }
        return meanings.get(column, "as you said")


@dataclass(frozen=True)
class Need:
    """What is to be said about a column: a sentence, and the options that would do."""

    column: str
    why: str
    sentence: str
    options: tuple[str, ...]


def points_from_table(
    frame: pd.DataFrame,
    source: Path,
    roles: ColumnRoles | None = None,
    *,
    is_graph: bool = False,
    wanted: PreparationOptions | None = None,
) -> Points:
    """Turn a table into points: numbers from its feature columns, the rest by its role."""
    roles, wanted = roles or ColumnRoles(), wanted or PreparationOptions()
    columns = feature_columns(frame, source, roles)
    left_out = {c: roles.reason(c) for c in frame.columns if c not in columns}
    empty = [c for c in columns if frame[c].isna().all() and len(columns) > 1]
    left_out |= dict.fromkeys(empty, "empty")
    columns = [column for column in columns if column not in empty]
    needs = list_needs(frame, columns, source, roles, wanted)
    if wanted.leave_out:
        # What could name the points is called so, whether numbers or text.
        naming = [need.column for need in needs if need.options[0].startswith("--id-column")]
        out = {need.column: "ids" if need.column in naming else need.why for need in needs if need.why}
        left_out |= out
        columns, needs = [c for c in columns if c not in out], [need for need in needs if not need.why]
        if not columns:
            raise UsageError(f"{source} has no column of numbers. Turn text into numbers with --encode.")
    said = {column: frame[column].tolist() for column in roles.special}
    if needs:
        raise UsageError(_said_at_once(needs) + _said_of_names(said, roles, source))
    parts = named_parts(said, roles, source)
    if wanted.leave_out and len({re.sub(r"\d+", "", column) for column in columns}) == 1:
        # Columns that differ in their numbers only have one unit.
        wanted = replace(wanted, standardize=False)
    preparation, X = learn_preparation(frame, columns, source, wanted)
    same = [name for name, block in preparation.blocks.items() if not np.ptp(X[:, block], axis=0).any()]
    if len(same) == len(columns) and len(frame) > 1 and not is_graph:
        raise UsageError(
            f"There is nothing to cluster {source} by: each of its columns has one value "
            f"({listed([repr(name) for name in same])})."
        )
    return Points(
        X=X,
        source=source,
        is_graph=is_graph,
        columns=tuple(columns),
        preparation=preparation,
        left_out=left_out | dict.fromkeys([] if is_graph else same, "the same in every row"),
        decimal=getattr(frame.attrs.get("format"), "decimal", None),
        **parts,
    )


def _said_of_names(said: dict[str, list[Any]], roles: ColumnRoles, source: Path) -> str:
    """Return what is wrong with the names of the points or with the labels, if anything is."""
    try:
        named_parts(said, roles, source)
    except UsageError as error:
        return f" {error}"
    return ""


def _said_at_once(needs: Sequence[Need]) -> str:
    """Return one message about all that a table needs."""
    # Of one kind of need three columns are enough to see what it is.
    shown: dict[str, list[Need]] = {}
    for need in needs:
        shown.setdefault(need.why, []).append(need)
    sentences = [need.sentence for group in shown.values() for need in group[:3]]
    flags: dict[str, list[str]] = {}
    for need in needs:
        for option in need.options:
            flag, _, value = option.partition(" ")
            flags.setdefault(flag, [])
            flags[flag] += [value] if value not in flags[flag] else []
    order = (
        "--decimal",
        "--thousands",
        "--id-column",
        "--label-column",
        "--truth-column",
        "--unknown",
        "--drop",
        "--encode",
        "--impute",
    )
    said = [f"{flag} {','.join(flags[flag])}".strip() for flag in order if flag in flags]
    sentences = list(dict.fromkeys(sentences))
    is_new = len(said) > 1 or len(sentences) > 1 or "--label-column" in flags
    more = [f"All that this table seems to need: {' '.join(said)}."] if is_new else []
    return "\n\n".join([*sentences, *more])


def list_needs(
    frame: pd.DataFrame, columns: Sequence[str], source: Path, roles: ColumnRoles, wanted: PreparationOptions
) -> list[Need]:
    """Return what must be said about each column before its table can be clustered."""
    text = text_columns(frame, columns)
    is_said = {*roles.keep, *roles.features}
    needs = []
    for column in columns:
        values = frame[column]
        need = None
        if column not in is_said:
            need = _ids(values, column, source, roles) or _dates(values, column, source)
            need = need or _numbered_classes(values, column, source, roles)
        if need is None and column in text:
            need = _unclear(values, column, source) or _words(frame, column, source, roles, wanted)
        if need is not None:
            needs.append(need)
    # One column of ids names the points; further ones are left out.
    naming = [need for need in needs if need.options[0].startswith("--id-column")]
    naming = sorted(naming, key=lambda need: need.column.startswith("Unnamed: "))[1:]
    again = [need for need in needs if need.options[0].startswith("--label-column")][1:]
    for need in (*naming, *again):
        needs[needs.index(need)] = replace(need, options=(f"--drop {quoted(need.column)}",))
    if len(needs) < len(columns):
        # Whether text tells what belongs together is not known: numbers alone are the safer advice.
        needs = [
            replace(need, options=(f"--drop {quoted(need.column)}",))
            if need.options == ("--encode",) and not wanted.leave_out
            else need
            for need in needs
        ]
    needs = _one_sentence_for_words(frame, needs, source)
    leaving = {
        need.column
        for need in needs
        if need.why and not (need.options == ("--encode",) and not wanted.leave_out)
    }
    return needs + _gaps(frame, [c for c in columns if c not in leaving], source, wanted)


def _ids(values: pd.Series, column: str, source: Path, roles: ColumnRoles) -> Need | None:
    """Ask about a column that numbers the rows: clustered as a feature it decides the result."""
    if not looks_like_ids(values, column):
        return None
    if column.startswith("Unnamed: "):
        # pandas writes its row numbers under an empty heading.
        said = f"A column of {source} has no heading and looks like saved row numbers ({column!r})"
    else:
        first = ", ".join(str(value) for value in values[:3].tolist())
        said = f"Column {column!r} of {source} looks like ids, not like a feature ({first}, ...)"
    name = quoted(column)
    naming = can_name_points(values) and roles.identity is None
    ways = f", make it the names of the points with --id-column {name}" if naming else ""
    option = f"--id-column {name}" if naming else f"--drop {name}"
    ways = f"leave it out with --drop {name}{ways}, or say that it is a feature with --feature {name}."
    return Need(column, "ids", f"{said}; {ways}", (option,))


def _dates(values: pd.Series, column: str, source: Path) -> Need | None:
    if values.dtype.kind not in "mM":
        return None
    name, first = quoted(column), str(values.dropna().iloc[0]).removesuffix(" 00:00:00")
    said = (
        f"Column {column!r} of {source} holds dates ({first}, ...), and whether time matters is yours to say"
    )
    ways = f"leave it out with --drop {name}, or cluster by its days with --feature {name}."
    return Need(column, "dates", f"{said}: {ways}", (f"--drop {name}",))


#: Headings under which whole numbers are classes.
_CLASSES = r"(?i)((true|known)[_ -]?)?(class|label|target|truth)(s|es)?"


def _numbered_classes(values: pd.Series, column: str, source: Path, roles: ColumnRoles) -> Need | None:
    """Ask about whole numbers in few rows, or under a heading such as target: classes, not a feature."""
    known, name = values.dropna(), quoted(column)
    is_few = 2 * len(known) < len(values)
    is_asked = values.dtype.kind in "iuf" and (is_few or re.fullmatch(_CLASSES, column) is not None)
    if not is_asked or (known % 1 != 0).any():
        return None
    if is_few:
        said = f"is empty in {len(values) - len(known):,} of {len(values):,} rows"
        option, taken = f"--label-column {name}", roles.label
        ways = f"say {option} if it holds known classes, or fill it with --impute --feature {name}"
    else:
        said = "looks like classes, not like a feature"
        option, taken = f"--truth-column {name}", roles.truth
        ways = (
            f"say {option} if it is for scoring or --label-column {name} if it is what you know, or cluster "
        )
        ways += f"by it with --feature {name}"
    sentence = f"Column {column!r} of {source} {said}. Leave it out with --drop {name}, {ways}."
    return Need(column, "classes", sentence, (f"--drop {name}" if taken is not None else option,))


def _unclear(values: pd.Series, column: str, source: Path) -> Need | None:
    if not has_unclear_numbers(values):
        return None
    first = next(str(cell) for cell in values.dropna() if re.search("[.,]", str(cell)))
    sign = "," if "," in first else "."
    said = (
        f"Column {column!r} of {source} has numbers such as {first!r}: say --thousands {sign} if {sign!r} "
        f"sets off thousands, or --decimal {sign} if it is the decimal sign."
    )
    return Need(column, "", said, (f"--thousands {sign}",))


def _words(
    frame: pd.DataFrame, column: str, source: Path, roles: ColumnRoles, wanted: PreparationOptions
) -> Need | None:
    """Ask about a column of text: names, labels known in part, or categories."""
    values, name = frame[column], quoted(column)
    n_texts, n_numbers = count_too_many_texts(values), int(_are_numbers(values).sum())
    if 2 * n_numbers > len(frame) and (n_texts or not wanted.encode):
        row, value = _first_text(values)
        said = f"is a number in {n_numbers:,} of {len(frame):,} rows, but row {row} holds {value!r}"
        as_text = "" if n_texts else ", take all as text with --encode"
        ways = f"Correct or empty such cells{as_text}, or leave the column out with --drop {name}."
        return Need(column, "mixed", f"Column {column!r} of {source} {said}. {ways}", (f"--drop {name}",))
    if is_called_id(column) or n_texts:
        naming = can_name_points(values) and roles.identity is None
        option = f"--id-column {name}" if naming else f"--drop {name}"
        ways = f", or make it the names of the points with --id-column {name}" if naming else ""
        if not n_texts:
            return None if wanted.encode else Need(column, "text", "", (option,))
        said = f"holds {n_texts:,} different texts in {len(frame):,} rows, too many for --encode"
        by_words = f"; sidecut studio {source} --text {name} compares texts by their words"
        more = by_words if len(text_columns(frame, list(frame.columns))) == len(frame.columns) else ""
        sentence = f"Column {column!r} of {source} {said}. Leave it out with --drop {name}{ways}{more}."
        return Need(column, "texts", sentence, (option,))
    if wanted.encode:
        return None
    labels = _label_options(values) if roles.label is None else ()
    return Need(column, "text", "", labels or ("--encode",))


def _one_sentence_for_words(frame: pd.DataFrame, needs: list[Need], source: Path) -> list[Need]:
    """Give the columns of text, however many, one sentence."""
    text = [need.column for need in needs if not need.sentence]
    if not text:
        return needs
    row, value = _first_text(frame[text[0]])
    others = (
        f" (nor {'is' if len(text) == 2 else 'are'} {listed([repr(c) for c in text[1:]])})"
        if text[1:]
        else ""
    )
    drop = f"--drop {','.join(quoted(name) for name in text)}"
    sentence = (
        f"Column {text[0]!r} of {source} is not a number{others}: row {row} holds {value!r}. Leave it out "
        f"with {drop}, cluster by it with --encode if it tells what belongs together, or say what it is with "
        "--id-column, --label-column or --truth-column."
    )
    return [need if need.sentence else replace(need, sentence=sentence) for need in needs]


def _gaps(
    frame: pd.DataFrame, columns: Sequence[str], source: Path, wanted: PreparationOptions
) -> list[Need]:
    """Ask about missing and infinite values."""
    found = []
    gaps = {c: np.flatnonzero(frame[c].isna()) for c in columns if not wanted.impute}
    total = sum(len(rows) for rows in gaps.values())
    first = next((c for c, rows in gaps.items() if len(rows)), None)
    if first is not None:
        sentence = gap_words(int(gaps[first][0]), first, source, total, True)
        found.append(Need(first, "", sentence, ("--impute",)))
    for column in columns:
        if frame[column].dtype.kind == "f" and len(rows := np.flatnonzero(np.isinf(frame[column]))):
            sentence = gap_words(int(rows[0]), column, source, len(rows), False)
            found.append(Need(column, "", sentence, (f"--drop {quoted(column)}",)))
    return found


def is_called_id(column: str) -> bool:
    """Return whether the heading of a column says that it holds ids."""
    words = re.sub(r"([a-z])([A-Z])", r"\1_\2", column)
    pattern = r"(?i)(.*[_ -])?(id|ids|key|index|uid|row|no)\.?|.*(nr|nummer|number)\.?"
    return re.fullmatch(pattern, words) is not None


def looks_like_ids(values: pd.Series, column: str) -> bool:
    """Return whether a column numbers the rows: by its heading, or because it counts on by equal steps."""
    if column.startswith("Unnamed: "):
        return True
    if values.dtype.kind not in "iu":
        return False
    counts_on = len(values) >= 10 and len(steps := np.unique(np.diff(values))) == 1 and steps[0] > 0
    # Ids may occur twice; a column that is called id and has many doubles is a feature.
    is_mostly_distinct = len(values) > 2 and values.nunique() > 0.75 * len(values)
    return counts_on or (is_called_id(column) and is_mostly_distinct)


def count_too_many_texts(series: pd.Series) -> int:
    """Return the number of different texts in a column if that is too large for categories, or else 0."""
    # As text: JSON lines may hold lists, which have no hash.
    n_texts = int(series.dropna().astype(str).nunique())
    return n_texts if n_texts > max(5, min(100, len(series) // 2)) else 0


def can_name_points(series: pd.Series) -> bool:
    """Return whether every row of a column has a value of its own, so that it can name the points."""
    return bool(series.notna().all()) and int(series.astype(str).nunique()) == len(series)


def _are_numbers(series: pd.Series) -> pd.Series:
    """Return which cells are numbers, in whatever way they are written."""
    return series.astype(str).str.fullmatch(r"\s*[-+]?[\d.,'’ ]+\s*")


def _first_text(series: pd.Series) -> tuple[int, Any]:
    """Return the first cell that is no number, and its row."""
    is_number = series.isna() | _are_numbers(series)
    row = int(np.argmin(is_number.to_numpy())) if not is_number.all() else int(np.argmax(series.notna()))
    return row, series.iloc[row]


def _label_options(values: pd.Series) -> tuple[str, ...]:
    """Return the options for a column that looks like labels known in part, or nothing."""
    # More than half of such a column is empty, or one text that may mean unknown.
    option = f"--label-column {quoted(str(values.name))}"
    if 2 * int(values.isna().sum()) > len(values):
        return (option,)
    value, count = next(iter(values.dropna().astype(str).value_counts().items()), ("", 0))
    is_marker = str(value).strip().lower() in ASKED_ABOUT
    return (option, f"--unknown {quoted(str(value))}") if is_marker and 2 * count > len(values) else ()


def named_parts(values: dict[str, list[Any]], roles: ColumnRoles, source: Path) -> dict[str, Any]:
    """Return what the columns that are no features say, as keywords of `Points`."""
    names, label, truth = roles.identity, roles.label, roles.truth
    shared = {
        kind: class_names(values[column], column, source, roles.unknown or ())
        for kind, column in (("apart", roles.apart), ("together", roles.together))
        if column is not None
    }
    return {
        **shared,
        "names": None if names is None else checked_names(values[names], names, source),
        "name_column": names or "index",
        "known_labels": None if label is None else class_names(values[label], label, source, roles.unknown),
        "truth": None if truth is None else class_codes(values[truth], truth, source, roles.unknown),
    }


def feature_columns(frame: pd.DataFrame, source: Path, roles: ColumnRoles) -> list[str]:
    """Return the columns that are features."""
    available = list(frame.columns)
    must_exist((*roles.special, *roles.keep, *roles.drop, *roles.features), available, source)
    wanted = list(roles.keep) or [column for column in available if column not in roles.special]
    features = [column for column in wanted if column not in roles.drop]
    if not features:
        held = listed([repr(name) for name in available])
        raise UsageError(f"No feature column is left of {source}; its columns are {held}.")
    return features


def must_exist(asked: Iterable[str], available: Sequence[str], source: Path) -> None:
    """Refuse names that no column has, and say which there are."""
    for column in asked:
        if column not in available:
            said = f"{source} has no column {column!r}{did_you_mean(column, available) or '.'}"
            raise UsageError(f"{said} Its columns are {listed([repr(name) for name in available])}.")


def class_names(
    values: Sequence[Any], column: str, source: Path, unknown: tuple[str, ...] | None = None
) -> tuple[str, ...]:
    """Return what the classes of a label column are called; nothing where the class is unknown."""
    # Unknown are empty cells, NaN and, among numbers, -1. What may mean unknown or be a class is asked about.
    cells = []
    for value in values:
        # A column of whole numbers with gaps is read as floats: 3.0 is the class 3.
        is_whole = isinstance(value, float) and value.is_integer()
        cells.append("" if is_missing(value) else f"{value:g}" if is_whole else str(value))
    try:
        codes, names = read_labels(labels_from_text(cells), "value", unknown)
    except ConstraintError as error:
        said = re.sub(r"value\[(\d+)\] = (.*?) is text that", r"row \1 holds \2, which", str(error))
        raise UsageError(f"{source}, column {column!r}: {in_options(said)}.") from error
    return tuple("" if code == UNKNOWN else names[code] for code in codes)


def class_codes(
    values: Sequence[Any], column: str, source: Path, unknown: tuple[str, ...] | None = None
) -> NDArray[np.intp]:
    """Number the classes of a label column from 0 in sorted order, -1 where unknown; see `class_names`."""
    names = class_names(values, column, source, unknown)
    # 2 comes before 10, and numbers before text.
    codes = {name: code for code, name in enumerate(sorted(set(names) - {""}, key=_natural))}
    return np.array([codes.get(name, -1) for name in names], dtype=np.intp)


def _natural(cell: str) -> tuple[int, float, str]:
    try:
        return (0, float(cell), cell)
    except ValueError:
        return (1, 0.0, cell)
