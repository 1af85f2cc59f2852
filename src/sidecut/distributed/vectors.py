"""Blocks of vectors whose rows lie with the parts of a graph, to calculate with as with arrays.

What solvers do with tall blocks is little: arithmetic by columns, inner products of columns, choosing and
combining columns. A `SplitBlock` does that where its rows are; only small results come back. Arithmetic waits
until its result is needed: a few operations together are one task for each part.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

#: What stands for the rows of all parts: one value for each place where some of them lie.
Parts = list[Any]
#: Operations that wait until they are done together. What is needed twice may be done twice.
MOST_WAITING = 6


class Engine(Protocol):
    """Where the parts of a graph lie."""

    def each(self, function: Callable[..., Any], *arguments: Parts | Any) -> Parts:
        """Return function(*arguments) for all parts, which stay where they are; lists have one per part."""
        ...

    def total(self, function: Callable[..., Any], *arguments: Parts | Any) -> Any:
        """Return the sum of function(*arguments) over all parts, in their order."""
        ...

    def fetch(self, parts: Parts, dtype: Any) -> npt.NDArray[Any]:
        """Return the rows of all parts, in the order of the nodes."""
        ...


@dataclass(eq=False)
class Rows:
    """The rows of a block: parts that were made, or what makes them from others by a function of NumPy."""

    engine: Engine
    parts: Parts | None = None
    function: str = ""
    dtype: str = ""
    arguments: tuple[Any, ...] = ()

    @property
    def n_waiting(self) -> int:
        """How many operations have not been done yet."""
        if self.parts is not None:
            return 0
        return 1 + sum(value.n_waiting for value in self.arguments if isinstance(value, Rows))

    def made(self) -> Parts:
        """Return the parts, made now if they were not."""
        if self.parts is None:
            leaves: list[Rows] = []
            recipe = self._recipe(leaves)
            self.parts = self.engine.each(evaluate, recipe, *[leaf.parts for leaf in leaves])
            self.arguments = ()
        return self.parts

    def _recipe(self, leaves: list[Rows]) -> Any:
        """Return what to do as nested tuples, in which rows that are there are numbered leaves."""
        if self.parts is not None:
            number = next((i for i, leaf in enumerate(leaves) if leaf is self), len(leaves))
            if number == len(leaves):
                leaves.append(self)
            return Leaf(number)
        arguments = [value._recipe(leaves) if isinstance(value, Rows) else value for value in self.arguments]
        return Operation(self.function, self.dtype, tuple(arguments))


class Leaf(NamedTuple):
    """Rows that are there, by their number."""

    number: int


class Operation(NamedTuple):
    """A function of NumPy and its arguments."""

    function: str
    dtype: str
    arguments: tuple[Any, ...]


def evaluate(recipe: Leaf | Operation, *leaves: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the rows that a recipe makes."""
    if isinstance(recipe, Leaf):
        return leaves[recipe.number]
    arguments = [
        evaluate(value, *leaves) if isinstance(value, Leaf | Operation) else value
        for value in recipe.arguments
    ]
    return np.asarray(getattr(np, recipe.function)(*arguments)).astype(recipe.dtype, copy=False)


class SplitBlock(np.lib.mixins.NDArrayOperatorsMixin):
    """A vector or a block of vectors in parts, which stand for their rows wherever these lie."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, engine: Engine, rows: Parts | Rows, shape: tuple[int, ...], dtype: Any) -> None:
        self.engine, self.shape, self.dtype = engine, shape, np.dtype(dtype)
        # Rows are never changed: an operation in place puts others in their place.
        self._rows = rows if isinstance(rows, Rows) else Rows(engine, rows)

    @property
    def parts(self) -> Parts:
        """What stands for the rows of each part."""
        return self._rows.made()

    @property
    def ndim(self) -> int:
        """One for a vector, two for a block."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """How many numbers there are."""
        return int(np.prod(self.shape))

    @property
    def T(self) -> Transposed:
        """The transposed block, to be multiplied with another."""
        return Transposed(self)

    def copy(self) -> SplitBlock:
        """Return the same rows, which later operations in place do not change."""
        return SplitBlock(self.engine, self._rows, self.shape, self.dtype)

    def astype(self, dtype: Any, copy: bool = True) -> SplitBlock:
        """Return the block in another precision."""
        if np.dtype(dtype) == self.dtype:
            return self
        return SplitBlock(self.engine, self.engine.each(as_type, self.parts, dtype), self.shape, dtype)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return self.engine.fetch(self.parts, self.dtype if dtype is None else dtype)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        out = options.pop("out", None)
        if method != "__call__" or options:
            return NotImplemented
        if ufunc is np.matmul:
            return self._multiply(*inputs)
        likes = [np.ones((1,) * x.ndim, x.dtype) if isinstance(x, SplitBlock) else x for x in inputs]
        dtype = ufunc(*likes).dtype if out is None else self.dtype
        rows = [(1, *x.shape[1:]) if isinstance(x, SplitBlock) else np.shape(x) for x in inputs]
        shape = np.broadcast_shapes(*rows)
        if len(shape) != self.ndim or shape[0] != 1:
            raise TypeError("a block in parts is combined with numbers, rows, and blocks in parts.")
        arguments = tuple(x._rows if isinstance(x, SplitBlock) else x for x in inputs)
        made = Rows(self.engine, None, ufunc.__name__, dtype.str, arguments)
        if made.n_waiting > MOST_WAITING:
            made.made()
        if out is None:
            return SplitBlock(self.engine, made, (self.shape[0], *shape[1:]), dtype)
        (target,) = out
        target._rows = made
        return target

    def _multiply(self, left: Any, right: Any) -> Any:
        if isinstance(left, SplitBlock) and isinstance(right, SplitBlock):
            return float(self.engine.total(inner, left.parts, right.parts))
        parts = self.engine.each(combine, left.parts, np.asarray(right))
        shape = (left.shape[0], *np.shape(right)[1:])
        return SplitBlock(self.engine, parts, shape, np.result_type(left.dtype, right))

    def __array_function__(self, function: Any, types: Any, arguments: Any, options: Any) -> Any:
        if function is np.zeros_like:
            return self * self.dtype.type(0)
        if function is np.einsum and arguments[0] == "ij,ij->j":
            return self.engine.total(column_products, arguments[1].parts, arguments[2].parts)
        if function is np.linalg.norm:
            squared = self.engine.total(column_products, self.parts, self.parts)
            return np.sqrt(squared if options.get("axis") == 0 else squared.sum())
        return NotImplemented

    def __getitem__(self, key: tuple[slice, Any]) -> SplitBlock:
        _, columns = key
        chosen = np.arange(self.shape[1])[columns]
        parts = self.engine.each(take_columns, self.parts, chosen)
        return SplitBlock(self.engine, parts, (self.shape[0], chosen.size), self.dtype)

    def __setitem__(self, key: tuple[slice, Any], other: SplitBlock) -> None:
        chosen = np.arange(self.shape[1])[key[1]]
        if chosen.size:
            parts = self.engine.each(put_columns, self.parts, chosen, other.parts)
            self._rows = Rows(self.engine, parts)


class Transposed:
    """A block in parts, transposed: it is only ever multiplied with another."""

    def __init__(self, block: SplitBlock) -> None:
        self.block = block

    def __matmul__(self, other: SplitBlock) -> npt.NDArray[Any]:
        return np.asarray(self.block.engine.total(gram, self.block.parts, other.parts))


def as_type(rows: npt.NDArray[Any], dtype: Any) -> npt.NDArray[Any]:
    """Return rows in another precision."""
    return rows.astype(dtype)


def inner(one: npt.NDArray[Any], other: npt.NDArray[Any]) -> float:
    """Return the inner product of two vectors."""
    return float(one @ other)


def combine(rows: npt.NDArray[Any], weights: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return rows times a small matrix."""
    return rows @ weights


def gram(one: npt.NDArray[Any], other: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the inner products of all columns."""
    return one.T @ other


def column_products(one: npt.NDArray[Any], other: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the inner product of each column with the same of another block; of vectors, as one column."""
    return np.einsum("ij,ij->j", one.reshape(len(one), -1), other.reshape(len(other), -1))


def take_columns(rows: npt.NDArray[Any], columns: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return some columns."""
    return np.ascontiguousarray(rows[:, columns])


def put_columns(
    rows: npt.NDArray[Any], columns: npt.NDArray[Any], others: npt.NDArray[Any]
) -> npt.NDArray[Any]:
    """Return rows with others in some columns."""
    rows = rows.copy()
    rows[:, columns] = others
    return rows


def add_in_order(values: Sequence[Any]) -> Any:
    """Return the sum of values, the first two first."""
    result = values[0]
    for value in values[1:]:
        result = result + value
    return result
