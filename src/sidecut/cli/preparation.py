"""From the columns of a table to features, in the same way for points that come later."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sidecut.cli.console import UsageError, require
from sidecut.exceptions import SidecutWarning, warn

if TYPE_CHECKING:
    import pandas as pd


#: A column of text is spoken of if random classes would differ in it as much with a larger chance than this.
MAX_CHANCE = 0.1


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
    apart: tuple[str, ...] | None = None
    together: tuple[str, ...] | None = None
    truth: NDArray[np.intp] | None = None
    preparation: Any = None
    left_out: dict[str, str] = field(default_factory=dict)
    edges: Any = None
    decimal: str | None = None

    @property
    def n_samples(self) -> int:
        """Number of points."""
        return int(self.X.shape[0])

    def name(self, position: int) -> str:
        """Return the name of a point, or its row number."""
        return str(position) if self.names is None else self.names[position]

    @property
    def used_words(self) -> str:
        """Which columns count and which do not; nothing where columns have no names."""
        if not self.columns:
            return ""
        left = [f"{name} ({why})" for name, why in self.left_out.items()]
        said = f"Clustered by {listed([name for name in self.columns if name not in self.left_out])}"
        return f"{said}; left out {listed(left)}." if left else f"{said}."


@dataclass(frozen=True)
class PreparationOptions:
    """What to do with the columns of a table beyond reading their numbers."""

    impute: bool = False
    encode: bool = False
    standardize: bool = False
    leave_out: bool = False


@dataclass(frozen=True)
class Preparation:
    """How the columns of a table become features."""

    columns: tuple[str, ...]
    transformer: Any = None
    exponents: NDArray[np.intp] | None = None
    scaler: Any = None
    text: tuple[str, ...] = ()

    def apply(self, frame: pd.DataFrame, source: Path) -> NDArray[np.float64]:
        """Return the features of the rows of a table."""
        absent = [column for column in self.columns if column not in frame.columns]
        if absent:
            raise UsageError(f"{source} has no column {absent[0]!r}; it is needed as in the data before.")
        numbers = [column for column in self.columns if column not in self.text]
        for column in text_columns(frame, numbers):
            if frame[column].notna().any():
                raise UsageError(
                    f"Column {column!r} of {source} held numbers in the data before; here row 0 holds "
                    f"{frame[column].iloc[0]!r}. Correct it, or leave the cell empty."
                )
        chosen = _as_features(frame, self.columns, self.text)
        if self.transformer is None:
            X = chosen.to_numpy(dtype=float, na_value=np.nan)
        else:
            X = np.asarray(self.transformer.transform(chosen), dtype=float)
        _refuse_gaps(X, self.features, source)
        return self.rescale(X)

    def rescale(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Apply the scaler, if there is one."""
        if self.scaler is None or self.exponents is None:
            return X
        return np.asarray(self.scaler.transform(np.ldexp(X, -self.exponents)))

    @property
    def features(self) -> list[str]:
        """What the features are called; a column of text has one for each of its values."""
        if self.transformer is None:
            return list(self.columns)
        return [str(name) for name in self.transformer.get_feature_names_out()]

    @property
    def blocks(self) -> dict[str, slice]:
        """The features of each column."""
        numbers = [column for column in self.columns if column not in self.text]
        widths = [1] * len(numbers)
        if self.text:
            encoder = self.transformer.named_transformers_["text"]
            encoder = encoder[-1] if hasattr(encoder, "steps") else encoder
            widths += [len(categories) for categories in encoder.categories_]
        edges = pairwise(accumulate(widths, initial=0))
        return {name: slice(*ends) for name, ends in zip([*numbers, *self.text], edges, strict=True)}


def learn_preparation(
    frame: pd.DataFrame, columns: Sequence[str], source: Path, wanted: PreparationOptions
) -> tuple[Preparation, NDArray[np.float64]]:
    """Learn how columns become features; return that and the features."""
    # Where text is encoded all columns are scaled, too: zeros and ones have no unit to compare with others.
    text = text_columns(frame, columns)
    learned = Preparation(tuple(columns), text=tuple(text))
    chosen = _as_features(frame, columns, text)
    if text or (wanted.impute and chosen.isna().any(axis=None)):
        transformer = _transformer([c for c in columns if c not in text], text, wanted.impute)
        learned = replace(learned, transformer=transformer.fit(chosen))
    X = learned.apply(frame, source)
    if wanted.standardize or text:
        learned = learn_scale(learned, X)
    return learned, learned.rescale(X)


def learn_scale(preparation: Preparation, X: NDArray[np.float64]) -> Preparation:
    """Add the scaling to mean 0 and variance 1; constant columns become zero."""
    # The features of one column of text have variance 1 together, so that it counts as much as a number.
    from sklearn.preprocessing import StandardScaler

    largest = np.abs(X).max(axis=0, initial=0.0)
    # Only where squares would overflow or vanish: dividing by a power of two is exact.
    is_extreme = (largest > 0) & ((largest > 1e150) | (largest < 1e-150))
    exponents = np.where(is_extreme, np.frexp(largest)[1], 0).astype(np.intp)
    scaler = StandardScaler().fit(np.ldexp(X, -exponents))
    for name in preparation.text:
        block = preparation.blocks[name]
        # Not centred: AutoCut knows the columns of a category by their zeros.
        scaler.mean_[block] = 0.0
        scaler.scale_[block] = np.sqrt(scaler.var_[block].sum()) or 1.0
    return replace(preparation, exponents=exponents, scaler=scaler)


def _as_features(frame: pd.DataFrame, columns: Sequence[str], text: Sequence[str]) -> pd.DataFrame:
    """Return columns as numbers, dates as days since 1970, and columns of text as text."""
    pandas = require("pandas", "Reading tables")
    chosen = frame[list(columns)].copy()
    for name in columns:
        values = chosen[name]
        if name in text:
            chosen[name] = (
                values.astype(object).where(values.isna(), values.astype(str)).where(values.notna(), np.nan)
            )
        elif values.dtype.kind == "M":
            chosen[name] = (values - pandas.Timestamp(0)) / pandas.Timedelta(days=1)
        elif values.dtype.kind == "m":
            chosen[name] = values / pandas.Timedelta(days=1)
        else:
            chosen[name] = values.astype(float)
    return chosen


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
    """Return the columns that hold neither numbers nor dates."""
    pandas = require("pandas", "Reading tables")
    types = pandas.api.types
    return [c for c in columns if not types.is_numeric_dtype(frame[c]) and frame[c].dtype.kind not in "mM"]


def _refuse_gaps(values: NDArray[np.float64], columns: Sequence[str], source: Path) -> None:
    bad = np.argwhere(~np.isfinite(values))
    if bad.size:
        row, column = (int(place) for place in bad[0])
        raise UsageError(
            gap_words(row, columns[column], source, len(bad), bool(np.isnan(values[row, column])))
        )


def gap_words(row: int, column: str, source: Path, count: int, is_gap: bool) -> str:
    """Say where a value is missing or infinite, and what to do."""
    more = f" ({count:,} such values in all)" if count > 1 else ""
    what = "missing" if is_gap else "infinite"
    fill = "Fill gaps with --impute, remove the row" if is_gap else "Correct it, remove the row"
    return (
        f"The value in row {row}, column {column!r} of {source} is {what}{more}; rows count "
        f"from 0 after the heading. {fill}, or leave the column out with --drop {quoted(column)}."
    )


def listed(names: Sequence[str], limit: int = 12) -> str:
    """Return some names, and how many more there are."""
    # The name of the last one is as short as "1 more".
    if len(names) <= limit + 1:
        return ", ".join(names)
    return f"{', '.join(names[:limit])} and {len(names) - limit} more"


def quoted(name: str) -> str:
    """Return a name as it is written on a command line."""
    return name if name.replace("_", "").replace("-", "").isalnum() else f"'{name}'"


def warn_about_spreads(points: Points) -> None:
    """Warn if one column has a much larger standard deviation than most: it alone decides distances."""
    if points.is_graph or points.columns is None or len(points.columns) != points.X.shape[1]:
        return
    largest = np.abs(points.X).max(axis=0, initial=0.0)
    # The square of the largest value may be beyond a float.
    spreads = largest * (points.X / np.where(largest > 0, largest, 1.0)).std(axis=0)
    varied = np.sort(spreads[spreads > 0])
    if len(varied) < 2:
        return
    # Of two columns the lesser one, of many the middle one.
    usual, widest = varied[(len(varied) - 1) // 2], int(np.argmax(spreads))
    if spreads[widest] > 30.0 * usual:
        name, times = points.columns[widest], f"{spreads[widest] / usual:.3g} times"
        warn(
            f"Column {name!r} spreads {times} as far as others, so it alone decides distances. Add "
            "--standardize if the columns have different units.",
            SidecutWarning,
        )


def warn_about_encoded(points: Points, classes: NDArray[np.object_]) -> None:
    """Warn of columns of text that are encoded although the known classes, None elsewhere, do not differ."""
    if not getattr(points.preparation, "text", ()):
        return
    from scipy.stats import chi2_contingency

    known = np.array([name is not None for name in classes])
    named = np.array([str(name) for name in classes])[known]
    for name in points.preparation.text:
        values = points.X[known, points.preparation.blocks[name]] > 0
        counts = np.array([values[named == one].sum(axis=0) for one in np.unique(named)])
        counts = counts[:, counts.any(axis=0)]
        if min(counts.shape) > 1 and chi2_contingency(counts, correction=False).pvalue > MAX_CHANCE:
            warn(
                f"Column {name!r} says nothing about the {len(named)} labels: rows of one class differ in it "
                "as much as rows of two. It counts as much as a number, so it can mislead; try --drop "
                f"{quoted(name)}",
                SidecutWarning,
            )


def checked_names(values: Sequence[Any], column: str, source: Path) -> tuple[str, ...]:
    """Return the names in an id column; they must differ."""
    names = tuple(str(value) for value in values)
    first: dict[str, int] = {}
    again = [(row, name) for row, name in enumerate(names) if first.setdefault(name, row) != row]
    if again:
        row, name = again[0]
        more = f", and {len(again) - 1:,} more rows repeat a name" if len(again) > 1 else ""
        raise UsageError(
            f"The id column {column!r} of {source} calls rows {first[name]} and {row} both {name!r}{more}; "
            "names must differ. Choose another --id-column, or leave it out."
        )
    return names
