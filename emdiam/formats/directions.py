"""A column that says of each edge of a table whether it has a direction: Type of Gephi, or one that is called directed.

Where directions are kept, an edge without one becomes two arcs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from ..errors import InputError
from ..units import format_count
from .arrays import decoded
from .tables import UNDIRECTED

_DIRECTED = ("directed", "true", "1", "yes")
# Words of a column Type that may say that an edge has no direction: always, and beside "directed".
_DOUBTFUL = ("u", "undir", "mutual", "both", "bidirectional", "mixed")
_UNSAID = ("", "none", "nan", "0", "-1", "f", "n", "false", "no")


class Directions:
    """The directions of the edges of one pass. column : name of the column. error : creates an InputError."""

    def __init__(self, column: str, error: Callable[..., InputError]) -> None:
        self._column, self._error = column.strip(), error
        self._undirected, self._directed = 0, False
        self._other = self._unsaid = ""  # words that are not about directions, and that may be

    def is_undirected(self, word: str | None, count: int = 1) -> bool:
        """Whether edges with this word in the column have no direction. count : their number. Raises InputError for a
        word that is unclear; in a column Type, if only some words are about directions."""
        text, column = (word or "").strip().lower().removesuffix(".0"), self._column.lower()
        undirected, directed = text in UNDIRECTED[column], text in _DIRECTED
        self._undirected += count if undirected else 0
        self._directed |= directed
        if not undirected and not directed:
            self._other = self._other or repr(word)
            self._unsaid = self._unsaid or (repr(word) if text in _UNSAID else "")
            if column == "directed" or text in _DOUBTFUL:
                raise self._error(f"column {self._column} says of some edges {word!r}, which may be a direction",
                                  remedy="say directed or undirected of all, or rename the column")
        wrong = self._other if self._undirected else self._unsaid if self._directed else ""
        if wrong:
            raise self._error(f"column {self._column} says of some edges whether they have a direction, and of others"
                              f" {wrong}", remedy="say directed or undirected of all, or rename the column")
        return undirected

    def both(self, src: Any, dst: Any, weights: Any, words: Any) -> tuple[Any, Any, Any]:
        """The edges, and those without a direction once more, reversed. words : the values of the column. Raises
        InputError as `is_undirected`."""
        column = words.combine_chunks() if isinstance(words, pa.ChunkedArray) else words
        try:
            column = decoded(column).cast(pa.string()).dictionary_encode(null_encoding="encode")
        except (pa.ArrowException, ValueError, IndexError) as error:
            raise self._error(f"column {self._column} is damaged, or has no words ({error})",
                              remedy="write it again, or rename it") from error
        indices = np.asarray(column.indices)
        counts = np.bincount(indices, minlength=len(column.dictionary)).tolist()
        flags = list(map(self.is_undirected, column.dictionary.to_pylist(), counts))
        places = np.flatnonzero(np.array(flags, np.bool_)[indices])
        return (_joined(src, dst, places), _joined(dst, src, places),
                None if weights is None else _joined(weights, weights, places))

    def notes(self) -> tuple[str, ...]:
        """For SourceInfo: the contents of the column."""
        return () if not self._undirected else (
            f"{format_count(self._undirected, 'edge')} without a direction by column {self._column}: two arcs each",)


def _joined(values: Any, more: Any, places: Any) -> Any:
    """The values, and behind them those of `more` at these places."""
    if isinstance(values, np.ndarray):
        return np.concatenate([values, more[places]])
    return pa.concat_arrays([values, more.take(pa.array(places))])
