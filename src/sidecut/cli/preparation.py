"""From the columns of a table to features, in the same way for points that come later."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sidecut.cli.console import UsageError, require
from sidecut.exceptions import SidecutWarning, warn

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Points", "Preparation", "PreparationOptions", "learn_preparation"]


@dataclass(frozen=True)
class Points:
    """Points read from a file: features, names and known classes."""

    X: Any
    source: Path
    is_graph: bool = False
    names: tuple[str, ...] | None = None
    name_column: str = "index"
    columns: tuple[str, ...] | None = None
    known_labels: tuple[str, ...] | None = None
    truth: NDArray[np.intp] | None = None
    preparation: Any = None

    @property
    def n_samples(self) -> int:
        """Number of points."""
        return int(self.X.shape[0])

    def name(self, position: int) -> str:
        """Return the name of a point, or its row number."""
        return str(position) if self.names is None else self.names[position]


@dataclass(frozen=True)
class PreparationOptions:
    """What to do with the columns of a table beyond reading their numbers."""

    impute: bool = False
    encode: bool = False
    standardize: bool = False


@dataclass(frozen=True)
class Preparation:
    """How the columns of a table become features."""

    columns: tuple[str, ...]
    transformer: Any = None
    exponents: NDArray[np.intp] | None = None
    scaler: Any = None

    def apply(self, frame: pd.DataFrame, source: Path) -> NDArray[np.float64]:
        """Return the features of the rows of a table."""
        absent = [column for column in self.columns if column not in frame.columns]
        if absent:
            raise UsageError(f"{source} has no column {absent[0]!r}; it is needed as in the data before.")
        chosen = frame[list(self.columns)]
        if self.transformer is None:
            _refuse_text(frame, self.columns, source)
            X, names = chosen.to_numpy(dtype=float, na_value=np.nan), list(self.columns)
        else:
            parts = self.transformer.transformers_
            _refuse_text_for_numbers(
                frame, [c for part, _, cs in parts if part == "numbers" for c in cs], source
            )
            X = np.asarray(self.transformer.transform(chosen.where(chosen.notna(), np.nan)), dtype=float)
            names = [str(name) for name in self.transformer.get_feature_names_out()]
        _refuse_gaps(X, names, source)
        return self.rescale(X)

    def rescale(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Apply the scaler, if there is one."""
        if self.scaler is None or self.exponents is None:
            return X
        return np.asarray(self.scaler.transform(np.ldexp(X, -self.exponents)))


def learn_preparation(
    frame: pd.DataFrame, columns: Sequence[str], source: Path, wanted: PreparationOptions
) -> tuple[Preparation, NDArray[np.float64]]:
    """Learn how columns become features; return that and the features."""
    text = text_columns(frame, columns)
    learned = Preparation(tuple(columns))
    if wanted.encode:
        _refuse_names(frame, text, source)
    elif text:
        _refuse_text(frame, columns, source)
    if text or (wanted.impute and frame[list(columns)].isna().any(axis=None)):
        transformer = _transformer([c for c in columns if c not in text], text, wanted.impute)
        chosen = frame[list(columns)]
        learned = replace(learned, transformer=transformer.fit(chosen.where(chosen.notna(), np.nan)))
    X = learned.apply(frame, source)
    if wanted.standardize:
        learned = learn_scale(learned, X)
    return learned, learned.rescale(X)


def learn_scale(preparation: Preparation, X: NDArray[np.float64]) -> Preparation:
    """Add the scaling to mean 0 and variance 1; constant columns become zero."""
    from sklearn.preprocessing import StandardScaler

    largest = np.abs(X).max(axis=0, initial=0.0)
    # Only where squares would overflow or vanish: dividing by a power of two is exact.
    is_extreme = (largest > 0) & ((largest > 1e150) | (largest < 1e-150))
    exponents = np.where(is_extreme, np.frexp(largest)[1], 0).astype(np.intp)
    return replace(preparation, exponents=exponents, scaler=StandardScaler().fit(np.ldexp(X, -exponents)))


def _transformer(numbers: list[str], text: list[str], impute: bool) -> Any:
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    fill_text = SimpleImputer(strategy="most_frequent")
    return ColumnTransformer(
        [
            ("numbers", SimpleImputer(strategy="median") if impute else "passthrough", numbers),
            ("text", make_pipeline(fill_text, encoder) if impute else encoder, text),
        ],
        verbose_feature_names_out=False,
    )


def text_columns(frame: pd.DataFrame, columns: Sequence[str]) -> list[str]:
    """Return the columns that do not hold numbers."""
    pandas = require("pandas", "Reading tables")
    return [column for column in columns if not pandas.api.types.is_numeric_dtype(frame[column])]


def count_too_many_texts(series: pd.Series) -> int:
    """Return the number of different texts in a column if that is too large for categories, or else 0."""
    # As text: JSON lines may hold lists, which have no hash.
    n_texts = int(series.dropna().astype(str).nunique())
    return n_texts if n_texts > max(5, min(100, len(series) // 2)) else 0


def _refuse_names(frame: pd.DataFrame, text: Sequence[str], source: Path) -> None:
    for column in text:
        if n_texts := count_too_many_texts(frame[column]):
            naming = f", or make it the names of the points with --id-column {quoted(column)}"
            naming = naming if can_name_points(frame[column]) else ""
            raise UsageError(
                f"Column {column!r} of {source} holds {n_texts:,} different texts in {len(frame):,} rows, "
                f"too many for --encode. Leave it out with --drop {quoted(column)}{naming}."
            )


def can_name_points(series: pd.Series) -> bool:
    """Return whether every row of a column has a value of its own, so that it can name the points."""
    return bool(series.notna().all()) and int(series.astype(str).nunique()) == len(series)


def _refuse_text_for_numbers(frame: pd.DataFrame, numbers: Sequence[str], source: Path) -> None:
    """Refuse text in columns that held numbers before."""
    text = [column for column in text_columns(frame, numbers) if frame[column].notna().any()]
    if not text:
        return
    ask_about_commas(frame, text, source)
    row, value = _first_text(frame[text[0]])
    raise UsageError(
        f"Column {text[0]!r} of {source} held numbers in the data before; here row {row} holds {value!r}. "
        "Correct it, or leave the cell empty."
    )


def ask_about_commas(frame: pd.DataFrame, text: Sequence[str], source: Path) -> None:
    """Refuse columns of numbers with decimal commas, which were read as text."""
    commas = [name for name in text if has_decimal_commas(frame[name])]
    if commas:
        first = next(word for word in frame[commas[0]].dropna().astype(str) if "," in word)
        raise UsageError(
            f"Column {commas[0]!r} of {source} has numbers with a comma, such as {first!r}. Add --decimal , "
            "to read them."
        )


def _refuse_text(frame: pd.DataFrame, features: Sequence[str], source: Path) -> None:
    text = text_columns(frame, features)
    if not text:
        return
    column = text[0]
    row, value = _first_text(frame[column])
    if str(value).strip().upper() in {"NA", "N/A", "<NA>", "NULL", "NONE", "?", "-"}:
        raise UsageError(
            f"The value in row {row}, column {column!r} of {source} is {value!r}, which is no number. Leave "
            "the cell empty and add --impute, fill the gap, remove the row, or leave the column out with "
            f"--drop {quoted(column)}."
        )
    ask_about_commas(frame, text, source)
    others = f" (nor {'is' if len(text) == 2 else 'are'} {listed(text[1:])})" if text[1:] else ""
    drop = f"--drop {','.join(quoted(name) for name in text)}"
    raise UsageError(
        f"Column {column!r} of {source} is not a number{others}: row {row} holds {value!r}. Leave it out "
        f"with {drop}, turn text into columns of zeros and ones with --encode, or say what it is with "
        "--id-column, --label-column or --truth-column."
    )


def has_decimal_commas(series: pd.Series) -> bool:
    """Return whether all texts are numbers, some of them such as 1,5."""
    words = series.dropna().astype(str)
    is_number = words.str.fullmatch(r"\s*[-+]?\d*,\d+\s*|\s*[-+]?\d+\s*")
    return bool(is_number.all() and words.str.contains(",", regex=False).any())


def _first_text(series: pd.Series) -> tuple[int, Any]:
    pandas = require("pandas", "Reading tables")
    unreadable = pandas.to_numeric(series, errors="coerce").isna() & series.notna()
    row = int(np.argmax(unreadable.to_numpy())) if unreadable.any() else 0
    return row, series.iloc[row]


def _refuse_gaps(values: NDArray[np.float64], columns: Sequence[str], source: Path) -> None:
    bad = np.argwhere(~np.isfinite(values))
    if not bad.size:
        return
    row, column = bad[0]
    is_gap = bool(np.isnan(values[row, column]))
    more = f" ({len(bad):,} such values in all)" if len(bad) > 1 else ""
    what = "missing" if is_gap else "infinite"
    fill = "Fill gaps with --impute, remove the row" if is_gap else "Correct it, remove the row"
    raise UsageError(
        f"The value in row {row}, column {columns[column]!r} of {source} is {what}{more}; rows count "
        f"from 0 after the heading. {fill}, or leave the column out with --drop {quoted(columns[column])}."
    )


def listed(names: Sequence[str], limit: int = 12) -> str:
    """Return some names in quotes, and how many more there are."""
    shown = ", ".join(repr(name) for name in names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit} more"


def quoted(name: str) -> str:
    """Return a name as it is written on a command line."""
    return name if name.replace("_", "").replace("-", "").isalnum() else f"'{name}'"


def warn_about_spreads(points: Points) -> None:
    """Warn if one column has a much larger standard deviation than most: it alone decides distances."""
    if points.is_graph or points.columns is None or len(points.columns) != points.X.shape[1]:
        return
    with np.errstate(over="ignore", invalid="ignore"):
        spreads = points.X.std(axis=0)
    varied = np.sort(spreads[spreads > 0])
    if len(varied) < 2 or not np.isfinite(varied[-1]):
        return
    # Of two columns the lesser one, of many the middle one.
    usual, widest = varied[(len(varied) - 1) // 2], int(np.argmax(spreads))
    if spreads[widest] > 30.0 * usual:
        name, times = points.columns[widest], f"{spreads[widest] / usual:,.0f} times"
        warn(
            f"Column {name!r} spreads {times} as far as others, so it alone decides distances. Add "
            "--standardize if the columns have different units.",
            SidecutWarning,
        )


def checked_names(values: Sequence[Any], column: str, source: Path) -> tuple[str, ...]:
    """Return the names in an id column; they must differ."""
    names = tuple(str(value) for value in values)
    seen: dict[str, int] = {}
    for row, name in enumerate(names):
        if name in seen:
            rule = "names must differ; choose another --id-column or leave it out"
            raise UsageError(
                f"The id column {column!r} of {source} calls rows {seen[name]} and {row} both {name!r}; "
                f"{rule}."
            )
        seen[name] = row
    return names
